"""Any file or folder of this machine as a model, whether or not it lies in the library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from weighbridge.base.errors import BadFile, NotFound, Refused
from weighbridge.base.task import Task
from weighbridge.formats.gguf_variants import is_gguf
from weighbridge.library.files import LAUNCH, Found, Walk, find_files, is_wanted
from weighbridge.library.folders import recognise_folder
from weighbridge.library.full_headers import has_table, read_in_full
from weighbridge.library.headers import Headers
from weighbridge.library.model import Model
from weighbridge.library.one_file import files_in, found_at, row_of_file
from weighbridge.library.rows import Row, echo_row, in_full, rows_below, shown_name
from weighbridge.library.shelves.koboldcpp import launched
from weighbridge.library.shelves.program import Look

OF_FOLDERS = (".bin", ".json", ".onnx", ".onnx_data", ".safetensors", ".xml")
"""Files that belong to a folder that is a model as a whole."""

_PICKLES = (".ckpt", ".pickle", ".pkl", ".pt", ".pth")
MAX_NAMED = 12


def recognise_path(path: Path, task: Task | None = None) -> Model:
    """The model that `path` is, or is a part of, with its full header.

    A part of a set stands for the set, a file of a folder of weights for the folder; a GGUF file need not be called
    one. Raises NotFound for what is not there, Refused("model.several") for a folder of several models, BadFile for
    what is no model, or a damaged or an incomplete one, and Cancelled.
    """
    task = task or Task()
    where = path.absolute()
    try:
        row = _in_folder(where, task) if os.path.isdir(where) else _of_file(where, task)  # noqa: PTH112 - never raises
    except OSError as error:
        raise BadFile("file.unreadable", name=where.name, reason=error.strerror or str(error)) from error
    model = row.model
    if model.problem is not None:
        raise model.problem
    return in_full(model, read_in_full(model, task.check)) if has_table(model) else model


def _of_file(path: Path, task: Task) -> Row:
    name = path.name.lower()
    if not os.path.exists(path):  # noqa: PTH110 - never raises
        raise NotFound("model.no_file", path=str(path))
    if name.endswith(".echo"):
        return echo_row(found_at(path))
    if name.endswith(_PICKLES):
        raise BadFile("model.pickle", name=path.name)
    if name.endswith(LAUNCH):
        return launched(path, Look(Walk(task), Headers(), task))
    if name.endswith(OF_FOLDERS) and not is_gguf(path.name):
        return _with_file(path, task)
    return _gguf(path, task)


def _gguf(path: Path, task: Task) -> Row:
    """A GGUF file, whatever it is called: programs that keep models by their hashes give them no ending."""
    row = row_of_file(path, Headers(), task.check)
    if row is None:
        raise NotFound("model.nothing_here")
    return row


def _with_file(path: Path, task: Task) -> Row:
    """The model in the folder around `path`, of whose files it is one."""
    files = [found_at(each) for each in files_in(path.parent) if is_wanted(each.name)]
    rows = list(rows_below(path.parent, files, Headers(), task))
    weights = [row for row in rows if path in row.model.parts]
    return _one_of(weights or [row for row in rows if row.model.path == path.parent], path.parent, files)


def _in_folder(path: Path, task: Task) -> Row:
    files = find_files([path], task).files
    rows = list(rows_below(path, files, Headers(), task))
    return _one_of([row for row in rows if row.model.path == path] or rows, path, files)


def _one_of(rows: Sequence[Row], folder: Path, files: Sequence[Found]) -> Row:
    """The only one of `rows`, else why `folder` is not one model."""
    if len(rows) == 1:
        return rows[0]
    if rows:
        names = sorted(shown_name(str(row.model.path)) for row in rows)
        raise Refused("model.several", path=str(folder), names=names[:MAX_NAMED], count=len(names))
    for variant in recognise_folder(folder, files):
        if variant.problem is not None:
            raise variant.problem
    raise NotFound("model.nothing_here")
