"""Tokens as the text of an answer, and as bytes, by mlx-lm's own way for each kind of tokenizer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_SPACE = "\u2581"


class Writer:
    """One answer's text, token by token; `tokenizer` is the library's. Where a turn is gone on with, `before` is the
    token before it: a space that the answer begins with then belongs to it.
    """

    def __init__(self, tokenizer: Any, before: int | None = None) -> None:
        self._detokenizer = tokenizer.detokenizer  # reset by the library
        if before is not None:
            self._detokenizer.add_token(before)
            _ = self._detokenizer.last_segment

    def add(self, token: int) -> bytes:
        """What may be shown now that `token` came: whole characters; may be empty."""
        self._detokenizer.add_token(token)
        return self._segment()

    def rest(self) -> bytes:
        """The answer has ended: what was still held back."""
        self._detokenizer.finalize()
        return self._segment()

    def _segment(self) -> bytes:
        text: str = self._detokenizer.last_segment
        return text.encode("utf-8", "replace")


def token_bytes(tokenizer: Any, token: int) -> bytes:
    """The bytes of `token`, special ones by their names; none for a number that is no token."""
    name = tokenizer.convert_ids_to_tokens(token)
    if not isinstance(name, str):
        return b""
    if isinstance(tokenizer.detokenizer, import_module("mlx_lm.tokenizer_utils").BPEStreamingDetokenizer):
        return b"".join(_bytes_of_letters().get(letter) or letter.encode() for letter in name)
    if match := _BYTE.fullmatch(name):
        return bytes([int(match[1], 16)])
    return name.replace(_SPACE, " ").encode("utf-8", "replace")


@cache
def _bytes_of_letters() -> Mapping[str, bytes]:
    """GPT-2's alphabet, in which each byte is a letter that can be seen."""
    seen = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): bytes([byte]) for byte in seen} | {
        chr(256 + place): bytes([byte]) for place, byte in enumerate(hidden)
    }
