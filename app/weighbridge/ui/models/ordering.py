"""The order of rows: by value, unknown last whichever way. No Qt here.

Qt's own proxy would ask Python for each comparison; here a key is made once for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")
Key = Callable[[Row], tuple[bool, float | str]]
"""Whether the value of a row is unknown, and the value."""


def ordered(rows: Iterable[Row], key: Key[Row], *, descending: bool = False) -> list[Row]:
    """`rows` by `key`; those that are equal, and those that are unknown, stay as they stand."""
    keyed = [(key(row), row) for row in rows]
    known = [(value, row) for (unknown, value), row in keyed if not unknown]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return [*(row for _, row in known), *(row for (unknown, _), row in keyed if unknown)]
