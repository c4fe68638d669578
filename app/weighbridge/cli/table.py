"""Aligned columns for the terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

GAP = "  "


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Lines of `rows` below `head`; the columns in `right` hold figures and end at their right."""
    lines = [[_printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(cells, widths, right) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    padded = []
    for index, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - _width(cell))
        padded.append(space + cell if index in right else cell + space)
    return GAP.join(padded).rstrip()


def _printable(cell: str) -> str:
    """File names may hold control characters; a terminal must not obey them."""
    return "".join(" " if unicodedata.category(letter).startswith("C") else letter for letter in cell)


def _width(cell: str) -> int:
    """Columns on the terminal: East Asian letters take two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in cell)
    return len(cell) + wide - sum(unicodedata.combining(letter) != 0 for letter in cell)
