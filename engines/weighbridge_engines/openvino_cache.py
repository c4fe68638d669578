"""What OpenVINO's KV cache still knows of earlier prompts: reckoned, for the library does not tell it. Pure."""

from __future__ import annotations

from collections.abc import Sequence


class Known:
    """The rows of tokens computed last, as many as `room` tokens of cache can hold, kept in blocks of `block`."""

    def __init__(self, room: int, block: int) -> None:
        self._room = room
        self._block = block
        self._rows: list[Sequence[int]] = []

    def add(self, tokens: Sequence[int]) -> None:
        """`tokens` were computed just now; the oldest give way."""
        self._rows.append(tuple(tokens))
        while sum(map(len, self._rows)) > self._room and len(self._rows) > 1:
            del self._rows[0]

    def forget(self) -> None:
        """Nothing is known any more."""
        self._rows = []

    def of(self, tokens: Sequence[int]) -> int:
        """How many tokens at the beginning of `tokens` need not be computed: whole blocks, and never the last token."""
        longest = max((_same(row, tokens) for row in self._rows), default=0)
        return min(longest, len(tokens) - 1) // self._block * self._block


def _same(row: Sequence[int], tokens: Sequence[int]) -> int:
    most = min(len(row), len(tokens))
    return next((place for place in range(most) if row[place] != tokens[place]), most)
