import pytest

from weighbridge.base.errors import BadFile
from weighbridge.formats.plain_json import MAX_DEPTH, bounded, json_object


def test_an_object_is_read():
    assert json_object(b'{"a": [1, {"b": null}]}', "x") == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"7",
        b"{",
        b"\xff\xfe\x00",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b'{"a":' * 100_000,
        b'{"a": 1, "a": 2}',
        b'{"a": [' + b"0," * 500_001 + b"0]}",
    ],
)
def test_what_is_no_sane_object_is_refused(content):
    with pytest.raises(BadFile) as caught:
        json_object(content, "config.json")
    assert (caught.value.code, caught.value.values["name"]) == ("json.damaged", "config.json")


def test_what_is_not_worth_keeping_is_left_out():
    deep = {}
    for _ in range(MAX_DEPTH + 2):
        deep = {"deeper": deep}
    kept = bounded(
        {
            "long": "x" * 500,
            "turn\u202e": "a\x1bb",
            "huge": 1 << 70,
            "endless": 1e999,
            "flag": True,
            "list": [1, None, "a"],
            "many": list(range(100_000)),
            "deep": deep,
        }
    )
    assert kept.pop("deep")
    assert kept == {"turn\ufffd": "a\ufffdb", "flag": True, "list": [1, None, "a"]}
