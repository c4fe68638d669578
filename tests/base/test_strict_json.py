"""JSON without what Python's reader lets pass."""

import pytest

from weighbridge.base.strict_json import read_strict


def test_what_is_json_is_read():
    assert read_strict('{"a": [1, 2.5, null], "b": {"a": 1}}') == {"a": [1, 2.5, None], "b": {"a": 1}}
    assert read_strict(b"[]") == []


@pytest.mark.parametrize("text", ['{"a": NaN}', "[Infinity]", "[-Infinity]", '{"a": 1, "a": 2}', "{", ""])
def test_what_is_not_is_refused(text):
    with pytest.raises(ValueError):
        read_strict(text)
