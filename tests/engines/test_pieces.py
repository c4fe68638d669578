"""Text out of bytes, cut at stop texts."""

import pytest

from weighbridge_engines.pieces import Pieces


def said(parts, stop=()):
    pieces = Pieces(stop)
    told = [pieces.feed(part) for part in parts]
    return [*told, pieces.rest()], pieces.stopped


def test_a_character_over_two_tokens_waits_for_its_rest():
    assert said([b"a\xf0\x9f", b"\x98\xb8b"]) == (["a", "😸b", ""], False)


def test_a_cut_character_at_the_end_and_a_lone_byte_become_one_mark_each():
    assert said([b"a", b"\xf0\x9f"])[0] == ["a", "", "�"]
    assert said([b"a\xff"])[0] == ["a�", ""]
    assert said([b"a\xe4\xb8", b"b"])[0] == ["a", "�b", ""]


@pytest.mark.parametrize(
    ("parts", "stop", "told"),
    [
        ([b"one STOP two"], ["STOP"], "one "),
        ([b"one ST", b"OP two"], ["STOP"], "one "),
        ([b"o", b"S", b"T", b"O", b"P"], ["STOP"], "o"),
        ([b"aab", b"b"], ["ab"], "a"),
        ([b"one END two STOP"], ["STOP", "END"], "one "),
        ([b"\xf0\x9f", b"\x98\xb8!"], ["😸"], ""),
        ([b"x\n", b"\ny"], ["\n\n"], "x"),
    ],
)
def test_a_stop_text_ends_the_answer_and_is_not_part_of_it(parts, stop, told):
    pieces, stopped = said(parts, stop)
    assert ("".join(pieces), stopped) == (told, True)


def test_what_only_began_like_a_stop_text_is_told_in_the_end():
    assert said([b"one STO", b"RE", b" ST"], ["STOP"]) == (["one ", "STORE", " ", "ST"], False)


def test_nothing_comes_after_a_stop_text():
    pieces = Pieces(["x"])
    assert [pieces.feed(b"ax"), pieces.feed(b"more"), pieces.rest()] == ["a", "", ""]
