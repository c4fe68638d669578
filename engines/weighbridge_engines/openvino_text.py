"""Tokens made into text as they come, by a library that decodes whole rows of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class Text:
    """One answer. A token may be part of a character: then nothing comes of it until the rest is there. What a token
    looks like may depend on the one before it, so each is decoded together with some before.
    """

    def __init__(self, decoded: Callable[[Sequence[int]], str]) -> None:
        self._decoded = decoded
        self._before: list[int] = []
        self._waiting: list[int] = []

    def feed(self, token: int) -> str:
        """The text that is whole now that `token` came; may be empty."""
        self._waiting.append(token)
        known = self._decoded(self._before)
        whole = self._decoded([*self._before, *self._waiting])
        if len(whole) <= len(known) or whole.endswith("\N{REPLACEMENT CHARACTER}"):
            return ""
        self._before, self._waiting = self._waiting, []
        return whole[len(known) :]
