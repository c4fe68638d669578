"""The largest number for which something holds."""

from __future__ import annotations

from collections.abc import Callable


def last(most: int, holds: Callable[[int], bool], near: int | None = None) -> int | None:
    """The largest number from 0 to `most` for which `holds` is true, where it is true for all smaller ones.

    None where it is true for none. `near` is where to begin to look, which takes two steps where it is right.
    """
    low, high = (-1, most + 1) if near is None or most < 0 else _around(min(max(near, 0), most), most, holds)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low if low >= 0 else None


def _around(near: int, most: int, holds: Callable[[int], bool]) -> tuple[int, int]:
    """A number for which it holds and a larger one for which it does not, looked for in steps that double.

    -1 and `most` + 1 stand where there is none.
    """
    low, high, step = near, near + 1, 1
    if holds(near):
        while high <= most and holds(high):
            step *= 2
            low, high = high, min(high + step, most + 1)
        return low, high
    low, high = near - 1, near
    while low >= 0 and not holds(low):
        step *= 2
        low, high = max(low - step, -1), low
    return low, high
