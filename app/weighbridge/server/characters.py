"""Characters that an engine cut between two chunks, mended in chunks on their way to the caller."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from weighbridge.chat.joining import Joiner

_SPOKEN = ("content", "reasoning_content", "reasoning")


class Characters:
    """Mends the texts of one stream, each choice and channel for itself."""

    def __init__(self) -> None:
        self._joiners: defaultdict[tuple[object, str], Joiner] = defaultdict(Joiner)

    @property
    def holding(self) -> bool:
        """Whether part of a character waits for the next chunk."""
        return any(joiner.holding for joiner in self._joiners.values())

    def mend(self, chunk: dict[str, Any]) -> None:
        """Put mended texts into `chunk`. What is still held back comes with the chunk that ends the choice."""
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if not isinstance(delta, dict):
                continue
            ends = isinstance(choice.get("finish_reason"), str)
            for channel in _SPOKEN:
                self._mend(delta, (str(choice.get("index")), channel), ends=ends)

    def _mend(self, delta: dict[str, Any], key: tuple[str, str], *, ends: bool) -> None:
        said = delta.get(key[1])
        joiner = self._joiners[key]
        text = joiner.feed(said) if isinstance(said, str) else ""
        text += joiner.flush() if ends else ""
        if text or isinstance(said, str):
            delta[key[1]] = text


def is_sound(frame: bytes) -> bool:
    """Whether no character of `frame` can be cut: valid UTF-8, without escaped surrogates."""
    if b"\\ud" in frame or b"\\uD" in frame:
        return False
    if frame.isascii():
        return True
    try:
        frame.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
