"""JSON schemas that an answer can be held to, and the keyword that is named where it cannot."""

import pytest

from weighbridge_engines.api import RequestRefused
from weighbridge_engines.schemas import MOST_DEPTH, check_references, check_schema, patterns

WORD = {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "string", "minLength": 1, "maxLength": 9, "description": "a word"},
        {"type": "string", "pattern": "^a+$"},
        {"type": "string", "format": "date"},
        {"type": ["string", "null"]},
        {"enum": ["a", 1, None]},
        {"const": 5, "type": "integer"},
        {"type": "array", "items": WORD, "minItems": 1, "maxItems": 3},
        {"type": "array", "prefixItems": [WORD, {"type": "number"}]},
        {"type": "object", "properties": {"a": WORD}, "required": ["a"], "additionalProperties": False},
        {"type": "object", "additionalProperties": WORD},
        {"anyOf": [WORD, {"type": "null"}], "title": "T"},
        {
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
            "$ref": "#/$defs/node",
        },
        {"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"b": WORD}, "required": ["b"]}], "$defs": {"a": {}}},
    ],
)
def test_what_can_be_kept_to(schema):
    check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "integer", "minimum": 3}, "schema.minimum"),
        (
            {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 2}}},
            "schema.properties.a.multipleOf",
        ),
        ({"type": "array", "items": WORD, "uniqueItems": True}, "schema.uniqueItems"),
        ({"type": "string", "pattern": "^a$", "minLength": 3}, "schema.minLength"),
        ({"type": "string", "format": "email"}, "schema.format"),
        ({"type": ["string", "null"], "enum": ["a", None]}, "schema.enum"),
        ({"anyOf": [WORD], "properties": {"a": WORD}}, "schema.properties"),
        ({"type": "object", "properties": {"a": WORD}, "required": ["b"]}, "schema.required"),
        ({"type": "object", "properties": {"a": WORD}, "minProperties": 1}, "schema.minProperties"),
        ({"type": "array", "prefixItems": [WORD], "minItems": 1}, "schema.minItems"),
        ({"not": WORD}, "schema.not"),
        ({"items": {"if": {}}}, "schema.items.if"),
        ({"type": "banana"}, "schema.type"),
        ({"allOf": [{"minimum": 1}]}, "schema.allOf"),
        ({"allOf": [{"properties": {"a": WORD}, "required": []}]}, "schema.allOf.required"),
        ({"properties": {"a": True}}, "schema.properties.a"),
        ([], "schema"),
        ("x", "schema"),
    ],
)
def test_a_keyword_that_cannot_be_kept_to_is_named(schema, named):
    with pytest.raises(RequestRefused) as refused:
        check_schema(schema)
    assert refused.value.reason.split(" ")[0] == named
    assert refused.value.field == "response_format"


def test_a_schema_that_is_too_deep_is_refused():
    schema = WORD
    for _ in range(MOST_DEPTH + 5):
        schema = {"type": "array", "items": schema}
    with pytest.raises(RequestRefused, match="nested too deeply"):
        check_schema(schema)


def test_all_patterns_are_found():
    schema = {
        "properties": {"a": {"pattern": "^1$"}},
        "anyOf": [{"items": {"pattern": "^2$"}}],
        "$defs": {"x": {"pattern": "^3$"}},
    }
    assert sorted(patterns(schema)) == ["^1$", "^2$", "^3$"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {
            "type": "array",
            "items": {"$ref": "#/$defs/a"},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        },
        {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"$ref": "#"}}},
    ],
)
def test_a_reference_that_leads_to_nothing_but_itself_is_refused(schema):
    with pytest.raises(RequestRefused, match=r"\$ref leads back to itself"):
        check_schema(schema)
    with pytest.raises(RequestRefused) as caught:
        check_references(schema)
    assert caught.value.field == "response_format"


@pytest.mark.parametrize("reference", ["#/$defs/none", "#/properties/a", "other.json", 5])
def test_references_that_end_somewhere_or_lead_elsewhere(reference):
    check_references({"properties": {"a": WORD, "b": {"$ref": reference}}})
