"""One GGUF file as a model, with the other parts of its set and with what lies beside it to help it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from weighbridge.formats.companions import role_of
from weighbridge.formats.gguf_variants import is_gguf
from weighbridge.formats.split import part_of_name, piece_of_name
from weighbridge.library.files import Found, found_file
from weighbridge.library.headers import Headers
from weighbridge.library.rows import Row, gguf_rows


def row_of_file(path: Path, headers: Headers, check: Callable[[], None]) -> Row | None:
    """The model that the GGUF file at `path` is, or is a part of; None for a file that only ever helps one.

    `path` is absolute, and the file may have any name. `check` is called before each file is read. Raises OSError.
    """
    beside = _siblings(path) if is_gguf(path.name) else []
    files = [found_at(path), *map(found_at, beside)]
    mine = [row for row in gguf_rows(path.parent, files, headers, check) if path in row.model.parts]
    alone = mine or gguf_rows(path.parent, files[:1], headers, check)
    return alone[0] if alone else None


def files_in(folder: Path) -> list[Path]:
    """The files in `folder`, by name. Raises OSError."""
    return sorted(each for each in folder.iterdir() if each.is_file())


def found_at(path: Path) -> Found:
    """The file at `path` as found in its folder. Raises OSError."""
    return found_file(path, path.parent, path.stat())


def _siblings(path: Path) -> list[Path]:
    """What lies beside a GGUF file and belongs to the same set, or helps models."""
    own = _set_of(path.name)
    beside = (each for each in files_in(path.parent) if each != path and is_gguf(each.name))
    return [each for each in beside if (own and _set_of(each.name) == own) or _helps(each)]


def _set_of(name: str) -> tuple[str, int | None] | None:
    told = piece_of_name(name) or part_of_name(name.rpartition(".")[0])
    return (told.stem, told.count) if told else None


def _helps(path: Path) -> bool:
    return path.suffix.lower() != ".gguf" or role_of(path.stem, None) is not None
