"""llama.cpp's own cache, of its versions from before it used Hugging Face's: one folder, files side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from weighbridge.library.rows import Row, rows_below
from weighbridge.library.shelves.program import Look, Program, Where


def folders(where: Where) -> Sequence[Path]:
    """The cache that `LLAMA_CACHE` names, or the usual one."""
    return (where.told("LLAMA_CACHE") or where.cache / "llama.cpp",)


def rows(folder: Path, look: Look) -> Iterator[Row]:
    """The models in `folder` alone: later versions lay Hugging Face's cache out below the same one."""
    return rows_below(folder, list(look.walk.below(folder, depth=0)), look.headers, look.task)


LLAMA_CPP = Program("llama_cpp", "llama.cpp", folders, rows)
