"""Which JSON schemas llama.cpp and llama-cpp-python can hold an answer to. Pure.

Their converters take the first form that they know in a schema and pass over the rest of it in silence; here each
keyword that would be passed over is refused by name. What they keep to is stricter than the schema in one way: where
`properties` are given, an object has no others unless `additionalProperties` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weighbridge_engines.api import RequestRefused

FIELD = "response_format"
MOST_DEPTH = 64
FORMATS = ("uuid", "uuid1", "uuid2", "uuid3", "uuid4", "uuid5", "date", "time", "date-time")
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

_NOTES = frozenset(
    {
        "$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples",
        "deprecated", "readOnly", "writeOnly", "strict",
    }
)  # fmt: skip
"""What says nothing of a value's form."""


BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
"""What llama.cpp's own converter keeps to where the type is "integer"."""


def check_schema(schema: object, of_integers: frozenset[str] = frozenset()) -> None:
    """Raise RequestRefused, which names the keyword, where an answer could not be held to all of `schema`.

    `of_integers` are the keywords that are kept to for whole numbers.
    """
    _check(schema, "schema", 0, of_integers)
    check_references(schema)


def check_references(schema: object) -> None:
    """Raise RequestRefused where a reference in `schema`, which is not too deep, leads to nothing but itself: no answer
    keeps to that, and libraries then take an empty one.
    """
    for part in _parts(schema):
        end: Mapping[str, Any] | None = part
        for _ in range(MOST_DEPTH):
            end = None if end is None else _referred(schema, end)
        if end is not None:
            raise _refusal("schema.$ref", "leads back to itself")


def check_patterns(schema: object, known: Callable[[str], bool]) -> None:
    """Raise RequestRefused for a regular expression in `schema`, which is checked before, that is not `known`."""
    for pattern in patterns(schema):
        if not known(pattern):
            raise RequestRefused(f"the pattern {pattern[:100]} cannot be kept to here", FIELD)


def patterns(schema: object) -> Iterator[str]:
    """The regular expressions in `schema`, which only the library itself can tell whether it knows."""
    for part in _parts(schema):
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]


def _check(schema: object, path: str, depth: int, of_integers: frozenset[str]) -> None:
    if depth > MOST_DEPTH:
        raise _refusal(path, "is nested too deeply")
    if not isinstance(schema, dict):
        raise _refusal(path, "is not an object")
    known = _NOTES | _form(schema, path) | _bounds(schema, of_integers)
    for keyword in schema:
        if keyword not in known:
            raise _refusal(f"{path}.{keyword}", "cannot be kept to here")
    for name, inner in _inner(schema):
        _check(inner, f"{path}.{name}", depth + 1, of_integers)


def _bounds(schema: Mapping[str, Any], of_integers: frozenset[str]) -> frozenset[str]:
    """Of two bounds at one end, the converter sees the one that belongs to the range."""
    if schema.get("type") != "integer":
        return frozenset()
    seen = {f"exclusive{end.capitalize()}" for end in ("minimum", "maximum") if end in schema}
    return of_integers - seen


def _form(schema: Mapping[str, Any], path: str) -> frozenset[str]:
    """The keywords that are kept to beside each other, by the first form that the converter would see."""
    kind = schema.get("type")
    for keyword in ("$ref", "oneOf", "anyOf"):
        if keyword in schema:
            return frozenset({keyword})
    if isinstance(kind, list):
        _check_types(kind, path)
        return frozenset({"type"})
    if "const" in schema or "enum" in schema:
        _check_listed(schema, path)
        return frozenset({"type", "const" if "const" in schema else "enum"})
    if kind is not None:
        _check_types([kind], path)
    return _form_of_type(schema, path)


def _form_of_type(schema: Mapping[str, Any], path: str) -> frozenset[str]:
    kind = schema.get("type")
    if kind in (None, "object") and ("properties" in schema or "additionalProperties" in schema):
        _check_required(schema, path)
        return frozenset({"type", "properties", "required", "additionalProperties"})
    if kind in (None, "object") and "allOf" in schema:
        _check_all_of(schema, path)
        return frozenset({"type", "allOf"})
    if kind in (None, "array") and "prefixItems" in schema and "items" not in schema:
        return frozenset({"type", "prefixItems"})
    if kind in (None, "array") and "items" in schema:
        return frozenset({"type", "items", *(() if isinstance(schema["items"], list) else ("minItems", "maxItems"))})
    return _form_of_text(schema, path)


def _form_of_text(schema: Mapping[str, Any], path: str) -> frozenset[str]:
    kind = schema.get("type")
    if kind in (None, "string") and "pattern" in schema:
        return frozenset({"type", "pattern"})
    if kind in (None, "string") and "format" in schema:
        if schema["format"] not in FORMATS:
            raise _refusal(f"{path}.format", f"is none of {', '.join(FORMATS)}")
        return frozenset({"type", "format"})
    if kind == "string":
        return frozenset({"type", "minLength", "maxLength"})
    if kind is None and set(schema) - _NOTES:
        raise _refusal(f"{path}.{min(set(schema) - _NOTES)}", "cannot be kept to here without a type")
    return frozenset({"type"})


def _check_types(kinds: list[Any], path: str) -> None:
    for kind in kinds:
        if kind not in TYPES:
            raise _refusal(f"{path}.type", f"is none of {', '.join(TYPES)}")


def _check_listed(schema: Mapping[str, Any], path: str) -> None:
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        raise _refusal(f"{path}.enum", "is not a list of values")


def _check_required(schema: Mapping[str, Any], path: str) -> None:
    required, properties = schema.get("required", []), schema.get("properties", {})
    if not isinstance(properties, dict):
        raise _refusal(f"{path}.properties", "is not an object")
    if not isinstance(required, list) or not all(name in properties for name in required):
        raise _refusal(f"{path}.required", "names what is not among the properties")


def _check_all_of(schema: Mapping[str, Any], path: str) -> None:
    """The converter puts together the properties of the parts, and nothing else of them."""
    if not isinstance(schema["allOf"], list):
        raise _refusal(f"{path}.allOf", "is not a list")
    for part in schema["allOf"]:
        if not isinstance(part, dict) or set(part) - _NOTES - {"$ref", "properties", "required", "type"}:
            raise _refusal(f"{path}.allOf", "can only put properties together here")
        properties = _object(part.get("properties"))
        if set(part.get("required", properties)) != set(properties):
            raise _refusal(f"{path}.allOf.required", "must name all properties of its part here")


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The schemas that stand in `schema`, with their names."""
    for keyword in ("properties", "$defs", "definitions"):
        for name, inner in _object(schema.get(keyword)).items():
            yield f"{keyword}.{name}", inner
    for keyword in ("oneOf", "anyOf", "allOf", "prefixItems", "items"):
        listed = schema.get(keyword)
        for place, inner in enumerate(listed if isinstance(listed, list) else ()):
            yield f"{keyword}[{place}]", inner
    for keyword in ("items", "additionalProperties"):
        inner = schema.get(keyword)
        if inner is not None and not isinstance(inner, list | bool):
            yield keyword, inner


def _referred(schema: object, part: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the reference that `part` is leads to in `schema`; None where it is none, or leads elsewhere."""
    told = part.get("$ref")
    if not isinstance(told, str) or not told.startswith("#"):
        return None
    found: object = schema
    for name in told.removeprefix("#").split("/")[1:]:
        found = _object(found).get(name.replace("~1", "/").replace("~0", "~"))
    return found if isinstance(found, dict) else None


def _parts(schema: object) -> Iterator[Mapping[str, Any]]:
    """`schema` and all that stand in it, which is checked before: it is not too deep."""
    if isinstance(schema, dict):
        yield schema
        for _, inner in _inner(schema):
            yield from _parts(inner)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _refusal(path: str, why: str) -> RequestRefused:
    return RequestRefused(f"{path[:200]} {why}", FIELD)
