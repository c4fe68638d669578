"""What the Library's table said of models at the last look, kept so that the next start shows it before all else.

It is what the first rows show, as words: no model is made, and nothing of what reads, weighs or runs models is imported
for it. It stands for the moment until the page itself is there. What is damaged is as if it were not there. No Qt here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

VERSION = 2
"""Raised whenever what is kept changes."""
COLUMNS = 6
"""Model, source, format, quantisation, size, the context that it was trained for."""
MOST_ROWS, MOST_BYTES, MOST_TEXT, MOST_PX = 500, 4 << 20, 512, 1000

Row = tuple[str, ...]


class Glimpse(NamedTuple):
    """Rows in the order in which they show, and how far below the top of the page their table stood."""

    rows: Sequence[Row] = ()
    top_px: int = 0


def keep(path: Path, language: str | None, rows: Iterable[Row], top_px: int = 0) -> None:
    """Keep a glimpse, said in `language`. What cannot be written costs time alone."""
    told = [[cell[:MOST_TEXT] for cell in row] for row, _ in zip(rows, range(MOST_ROWS), strict=False)]
    written = json.dumps([VERSION, language, top_px, told], separators=(",", ":")).encode("ascii")
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        if path.is_file() and path.read_bytes() == written:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(written)
        aside.replace(path)
    except OSError:
        with suppress(OSError):
            aside.unlink()


def read(path: Path, language: str | None) -> Glimpse:
    """What was kept; nothing where it cannot be read, or was said in another language."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return Glimpse()
        version, said_in, top_px, told = json.loads(path.read_bytes())
        rows = [tuple(row) for row in told[:MOST_ROWS]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Glimpse()
    whole = all(len(row) == COLUMNS and all(isinstance(cell, str) for cell in row) for row in rows)
    whole = whole and isinstance(top_px, int) and 0 <= top_px <= MOST_PX
    return Glimpse(rows, top_px) if whole and (version, said_in) == (VERSION, language) else Glimpse()
