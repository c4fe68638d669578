"""Which regular expressions of a JSON schema llama.cpp can hold an answer to. Pure.

Its converter takes any text, and tells nobody, where it does not know a pattern: what it knows is told here before. It
is less than its own list: quotes, backslashes and controls stand otherwise in JSON than in the text that is matched.
Source: `common_chat_schema_converter::_pattern_to_rule`.
"""

from __future__ import annotations

import re

MOST_REPEATS = 2000
"""MAX_REPETITION_THRESHOLD of llama.cpp's grammars."""

_MOST_DEPTH = 100
_HEX = r"x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
_PIECE = re.compile(
    rf"""
    (?P<escape> \\(?: [][^$.()|{{}}*+?] | {_HEX} ))
    | (?P<class> \[ \^? (?: [^][\\"^] | \\(?: [][-] | {_HEX} ) )+ \] )
    | (?P<open> \( (?: \?: )? )
    | (?P<close> \) )
    | (?P<or> \| )
    | (?P<repeat> [*+?] | \{{ (?P<least>\d+) (?P<comma>,)? (?P<most>\d+)? \}} )
    | (?P<plain> [^][(){{}}|*+?.^$\\"\n\r] )
    | (?P<any> \. )
    """,
    re.VERBOSE,
)
_REPEATED = ("escape", "class", "close", "plain", "any")


def known(pattern: str) -> bool:
    """Whether an answer is held to `pattern`, all of it."""
    if len(pattern) < 2 or not (pattern.startswith("^") and pattern.endswith("$")):
        return False
    depth, place, before = 0, 1, ""
    while place < len(pattern) - 1:
        piece = _PIECE.match(pattern, place, len(pattern) - 1)
        if piece is None or not _may_follow(piece, before):
            return False
        before, place = str(piece.lastgroup if piece["repeat"] is None else "repeat"), piece.end()
        depth += (before == "open") - (before == "close")
        if not 0 <= depth <= _MOST_DEPTH:
            return False
    return depth == 0


def _may_follow(piece: re.Match[str], before: str) -> bool:
    """Only a piece of text is repeated, once and not too often."""
    if piece["repeat"] is None:
        return True
    numbers = [int(piece[name]) for name in ("least", "most") if piece[name] is not None]
    return before in _REPEATED and all(number <= MOST_REPEATS for number in numbers) and numbers == sorted(numbers)
