"""Going into the places where models are looked for: what each turns out to be, and the models in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from weighbridge.base.errors import BadFile
from weighbridge.formats.gguf_variants import is_gguf
from weighbridge.library.files import LAUNCH, Walk
from weighbridge.library.model import ADDED, OWN
from weighbridge.library.one_file import row_of_file
from weighbridge.library.places import Root
from weighbridge.library.rows import Row, echo_row, rows_below
from weighbridge.library.shelves.known import PROGRAMS, program_of
from weighbridge.library.shelves.named import named_row
from weighbridge.library.shelves.program import Look


def opened(root: Root, walk: Walk) -> list[Root]:
    """`root` where it is there and may be read; a folder of the user that is a program's, as that program's.

    That another program is not here is nothing to be told; that the user's folder is gone, or one may not be read, is.
    """
    if os.path.isfile(root.path):  # noqa: PTH113 - never raises
        return [root]
    try:
        os.scandir(root.path).close()
    except (FileNotFoundError, NotADirectoryError):
        if root.source == ADDED:
            walk.skip(BadFile("library.gone", path=str(root.path)))
        return [root] if root.source == OWN else []
    except OSError as error:
        walk.skip(_closed(root, error))
        return []
    program = (
        next((program for program in PROGRAMS if program.within(root.path)), None) if root.source == ADDED else None
    )
    return [Root(folder, program.id) for folder in program.within(root.path)] if program else [root]


def rows_at(root: Root, look: Look) -> Iterator[Row]:
    """The models at a root that has been `opened`, each with its source."""
    program = program_of(root.source)
    found = program.rows(root.path, look) if program else _of_the_user(root, look)
    for row in found:
        source = root.source if row.model.source == OWN else row.model.source
        yield replace(row, model=replace(row.model, source=source))


def _of_the_user(root: Root, look: Look) -> Iterable[Row]:
    """The models below a folder, or in a file; then those that files of other programs in it tell of."""
    file = look.walk.file(root.path)
    files = list(look.walk.below(root.path)) if file is None else [file]
    if file is None:
        yield from rows_below(root.path, files, look.headers, look.task)
    elif file.path.suffix.lower() == ".echo":
        yield echo_row(file)
    elif file.path.suffix.lower() != LAUNCH:
        yield from _of_file(root, look)
    for program in PROGRAMS:
        yield from program.among(files, look)


def _of_file(root: Root, look: Look) -> list[Row]:
    """A file that is called a GGUF file is one, if a damaged one; any other is what its first bytes say."""
    try:
        row = row_of_file(root.path, look.headers, look.task.check) if is_gguf(root.path.name) else None
    except OSError as error:
        look.walk.skip(_closed(root, error))
        return []
    row = row or named_row(root.path, look)
    return [row] if row is not None else []


def _closed(root: Root, error: OSError) -> BadFile:
    program, reason = program_of(root.source), error.strerror or str(error)
    if program is None:
        return BadFile("library.skipped", path=str(root.path), reason=reason)
    return BadFile("library.closed", program=program.title, path=str(root.path), reason=reason)
