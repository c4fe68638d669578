"""The order of rows: by value, unknown last whichever way. No Qt here.

Qt's own proxy would ask Python for each comparison; here a key is made once for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
Key = Callable[[Row], tuple[bool, float | str]]
"""Whether the value of a row is unknown, and the value."""


def ordered(rows: Iterable[Row], key: Key[Row], *, descending: bool = False) -> list[Row]:
    """`rows` by `key`; those that are equal, and those that are unknown, stay as they stand."""
    listed = list(rows)
    keys = list(map(key, listed))
    return [listed[place] for place in in_order(range(len(listed)), keys, descending=descending)]


def in_order(places: Iterable[int], keys: Sequence[tuple[bool, float | str]], *, descending: bool = False) -> list[int]:
    """`places` by the keys that stand there, in the same way."""
    known: list[int] = []
    unknown: list[int] = []
    for place in places:
        (unknown if keys[place][0] else known).append(place)
    known.sort(key=keys.__getitem__, reverse=descending)
    return known + unknown
