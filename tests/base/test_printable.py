"""Text from elsewhere, made safe."""

import pytest

from weighbridge.base.errors import EngineFailed, NotFound
from weighbridge.base.explain import explain
from weighbridge.base.printable import encodable, json_bytes, printable


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain", "plain"),
        ("ümlaut 日本 \u00a0 👩\u200d🚀", "ümlaut 日本 \u00a0 👩\u200d🚀"),
        ("a\nb\tc\x00", "a\ufffdb\ufffdc\ufffd"),
        ("\x1b[31m\x9b", "\ufffd[31m\ufffd"),
        ("gpj.\u202egnp", "gpj.\ufffdgnp"),
        ("\udcff\ud83d", "\ufffd\ufffd"),
    ],
)
def test_what_a_terminal_would_obey_is_replaced(given, shown):
    assert printable(given) == shown


def test_halves_of_pairs_are_replaced_and_nothing_else():
    assert encodable("a\n\udcff\ud83d😀") == "a\n\ufffd\ufffd😀"


def test_an_error_about_a_hostile_name_is_one_plain_line():
    told = str(explain(NotFound("model.unknown", name="\x1b]0;x\x07", served=["a\nb"])))
    assert told.startswith("There is no model \ufffd]0;x\ufffd here. There is: a\ufffdb.")


def test_json_is_utf8_whatever_is_in_it():
    assert json_bytes({"a": "\udcffü😀"}) == '{"a": "\ufffdü😀"}'.encode()


def test_the_lines_of_an_engines_message_are_joined():
    told = str(explain(EngineFailed("engine.answered", message="no\n  tools\x07")))
    assert told.startswith("The engine refused the request: no   tools\ufffd ")
