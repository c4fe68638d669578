"""Layers on cards as the ExLlama libraries lay them: one card is filled, then the next. Pure.

Source: `load_autosplit` of exllamav2 and `_load_autosplit` of exllamav3 (read, not run).
"""

from __future__ import annotations

from collections.abc import Sequence


def filled(layer_bytes: Sequence[int], room_bytes: Sequence[int | None]) -> tuple[range, ...]:
    """The layers of each card, in their order: each card takes what it has room for, the last one all that is left.

    A card of which the room is not known takes all.
    """
    spans: list[range] = []
    first = 0
    for card, room in enumerate(room_bytes):
        end = len(layer_bytes) if card == len(room_bytes) - 1 else _end(layer_bytes, first, room)
        spans.append(range(first, end))
        first = end
    return tuple(spans)


def _end(layer_bytes: Sequence[int], first: int, room: int | None) -> int:
    left, end = room, first
    while end < len(layer_bytes):
        if left is not None:
            left -= layer_bytes[end]
            if left < 0:
                break
        end += 1
    return end
