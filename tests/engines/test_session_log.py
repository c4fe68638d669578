"""What a hosted library does not print itself, told and read again."""

import pytest

from weighbridge_engines.session_log import line, report, tell


def test_what_is_told_is_read_again(capsys):
    values = {"stage": "weights", "context": 512, "tps": 1.5, "mapped": True}
    assert report(line(values)) == values
    tell(kv_bytes=5, device="Host")
    assert report(capsys.readouterr().err.strip()) == {"kv_bytes": 5, "device": "Host"}


@pytest.mark.parametrize("text", ["", "session: ", "session: [1]", "session: {", '{"context": 1}', "session: {}"])
def test_any_other_line_tells_nothing(text):
    assert report(text) == {}


def test_what_is_no_plain_value_is_left_out():
    assert report('session: {"a": [1], "b": null, "c": 2}') == {"c": 2}
