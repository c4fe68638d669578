"""What llama.cpp holds an answer to is accepted, and what it would pass over is refused by name."""

import pytest

from weighbridge_engines.api import RequestRefused
from weighbridge_engines.llama_patterns import known
from weighbridge_engines.llama_server import ENGINE


@pytest.mark.parametrize(
    "pattern",
    ["^hi!$", "^[^@]+@(?:a|b)$", "^[0-9]{3}-[a-z]{2,4}$", r"^a\.b$", "^[A-Za-z0-9_.-]+$", "^(ab|c)*$", "^a{3,}$", "^$"],
)
def test_a_pattern_that_is_kept_to(pattern):
    assert known(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^hi\!$",
        "abc",
        "^abc",
        r"^\d+$",
        r"^\w$",
        "^(?=a)b$",
        "^(?<n>a)$",
        "^a**$",
        "^*a$",
        "^(a$",
        "^a)$",
        "^(|*)$",
        r"^\p{L}$",
        "^a{,3}$",
        "^a{3,2}$",
        "^a{5000}$",
        "^a^b$",
        "^[]a]$",
        "^[a$",
        r"^a\\b$",
        '^"$',
        r"^[\d]$",
        "^",
        "",
        "^" + "(" * 200 + ")" * 200 + "$",
        "^" + "(" * 100_000 + "$",
    ],
)
def test_a_pattern_that_would_be_passed_over(pattern):
    assert not known(pattern)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        {"type": "string", "pattern": "^a+$"},
        {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}}, "required": ["a"]},
        {"$defs": {"n": {"type": "null"}}, "$ref": "#/$defs/n"},
        {},
    ],
)
def test_a_schema_that_is_kept_to(schema):
    ENGINE.check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "string", "pattern": r"^hi\!$"}, r"^hi\!$"),
        ({"type": "object", "properties": {"a": {"type": "number", "minimum": 1}}}, "properties.a.minimum"),
        ({"type": "integer", "multipleOf": 5}, "multipleOf"),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": 3}, "exclusiveMinimum"),
        ({"type": "array", "items": {}, "uniqueItems": True}, "uniqueItems"),
        ({"not": {}}, "not"),
        ({"$ref": "#/$defs/a", "pattern": "^a$"}, "pattern"),
        ([1], "schema"),
    ],
)
def test_a_schema_of_which_a_part_would_be_passed_over(schema, named):
    with pytest.raises(RequestRefused) as refusal:
        ENGINE.check_schema(schema)
    assert named in refusal.value.reason
