"""Text from elsewhere (a file's name, an engine's words) made safe to show, to store and to send."""

from __future__ import annotations

import json
import re
import unicodedata

_REPLACEMENT = "\ufffd"
_UNSHOWN = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of what follows: a name with one reads as another."""

_LONE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with U+FFFD for each control character, line break, turn of direction and half of a pair."""
    if text.isprintable():
        return text
    return "".join(_REPLACEMENT if _is_unshown(letter) else letter for letter in text)


def encodable(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, which no encoding has: Python's mark of a bad byte."""
    return text if text.isascii() else _LONE.sub(_REPLACEMENT, text)


def json_bytes(value: object) -> bytes:
    """`value` as JSON in UTF-8. A lone half of a pair, which JSON may hold and UTF-8 may not, becomes U+FFFD."""
    return encodable(json.dumps(value, ensure_ascii=False)).encode()


def _is_unshown(letter: str) -> bool:
    return letter in _TURNS or unicodedata.category(letter) in _UNSHOWN
