"""Any file or folder of this machine as a model, whether or not it lies in the library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from weighbridge.base.errors import BadFile, NotFound, Refused
from weighbridge.base.task import Task
from weighbridge.formats.companions import role_of
from weighbridge.formats.gguf_variants import is_gguf
from weighbridge.formats.split import part_of_name, piece_of_name
from weighbridge.library.files import Found, find_files, found_file, is_wanted
from weighbridge.library.folders import recognise_folder
from weighbridge.library.full_headers import has_table, read_in_full
from weighbridge.library.headers import Headers
from weighbridge.library.model import Model
from weighbridge.library.rows import Row, echo_row, gguf_rows, in_full, shown_name
from weighbridge.library.scan import rows_below

_OF_FOLDERS = (".bin", ".json", ".onnx", ".onnx_data", ".safetensors", ".xml")
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
        return echo_row(_found(path))
    if name.endswith(_PICKLES):
        raise BadFile("model.pickle", name=path.name)
    if is_gguf(path.name):
        return _gguf(path, task)
    return _with_file(path, task) if name.endswith(_OF_FOLDERS) else _blob(path)


def _gguf(path: Path, task: Task) -> Row:
    """A GGUF file with the other parts of its set and with its helpers."""
    files = [_found(path), *map(_found, _siblings(path))]
    rows = gguf_rows(path.parent, files, Headers(), task.check)
    mine = [row for row in rows if path in row.model.parts]
    alone = mine or gguf_rows(path.parent, files[:1], Headers(), task.check)
    if not alone:
        raise NotFound("model.nothing_here")
    return alone[0]


def _blob(path: Path) -> Row:
    """A file of any name: programs that keep models by their hashes give them no ending."""
    file = _found(path)
    answer = Headers().of(file)
    if isinstance(answer, BadFile):
        raise answer
    name = shown_name(path.name)
    model = Model(name, name, path, (path,), "gguf", answer.quant, file.size_bytes, answer)
    return Row(model, answer.kind, path.parent, (file,))


def _siblings(path: Path) -> list[Path]:
    """What lies beside a GGUF file and belongs to the same set, or helps models."""
    own = _set_of(path.name)
    beside = (each for each in _files_in(path.parent) if each != path and is_gguf(each.name))
    return [each for each in beside if (own and _set_of(each.name) == own) or _helps(each)]


def _set_of(name: str) -> tuple[str, int | None] | None:
    told = piece_of_name(name) or part_of_name(name.rpartition(".")[0])
    return (told.stem, told.count) if told else None


def _helps(path: Path) -> bool:
    return path.suffix.lower() != ".gguf" or role_of(path.stem, None) is not None


def _with_file(path: Path, task: Task) -> Row:
    """The model in the folder around `path`, of whose files it is one."""
    files = [_found(each) for each in _files_in(path.parent) if is_wanted(each.name)]
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


def _files_in(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.is_file())


def _found(path: Path) -> Found:
    return found_file(path, path.parent, path.stat())
