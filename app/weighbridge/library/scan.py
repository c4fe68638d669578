"""Making a list of models out of the files in some folders."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.base.printable import printable
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.quant import quant_of_name
from weighbridge.formats.split import Part, part_of_name
from weighbridge.library.files import Found, find_files
from weighbridge.library.headers import Headers
from weighbridge.library.model import Model

_HELPERS = (Kind.PROJECTION, Kind.IMATRIX)
_HELPER_NAMES = ("mmproj", "imatrix")
MAX_ECHO_BYTES = 64 << 10
MAX_NAMED_PARTS = 3


@dataclass(frozen=True)
class Listing:
    """The models found, by id, and what was passed over and why."""

    models: tuple[Model, ...] = ()
    skipped: tuple[WeighbridgeError, ...] = ()


def scan(folders: Sequence[Path], task: Task) -> tuple[Model, ...]:
    """The models below `folders`, by id. A damaged file is a row with its problem. Raises Cancelled."""
    return list_models(folders, task, Headers()).models


def list_models(folders: Sequence[Path], task: Task, headers: Headers) -> Listing:
    """As `scan`, with headers remembered from an earlier listing."""
    search = find_files(folders, task)
    sets = _sets(search.files)
    rows: list[_Row] = []
    for done, files in enumerate(sets):
        task.step(done, len(sets))
        model = _model(files, headers)
        if model is not None:
            rows.append(_Row(model, files[0].folder))
    headers.keep_only({file.path for file in search.files})
    models = sorted(_with_unique_ids(rows), key=lambda model: model.id.casefold())
    return Listing(tuple(models), search.skipped)


@dataclass(frozen=True)
class _Row:
    model: Model
    folder: Path


def _sets(files: Iterable[Found]) -> list[list[Found]]:
    """The files grouped into models: a set by folder, stem and count, in the order of its parts; others alone."""
    groups: dict[tuple[Path, str, int], list[Found]] = {}
    for file in files:
        part = _part(file.path)
        key = (file.path.parent, part.stem, part.count) if part else (file.path, "", 1)
        groups.setdefault(key, []).append(file)
    return [sorted(group, key=lambda file: file.path.name.casefold()) for group in groups.values()]


def _part(path: Path) -> Part | None:
    return part_of_name(path.stem) if path.suffix.lower() == ".gguf" else None


def _model(files: list[Found], headers: Headers) -> Model | None:
    """The model that `files` make, or None where they only help another one (projections, importance matrices)."""
    first = files[0]
    if first.path.suffix.lower() == ".echo":
        return _echo(first)
    answer = headers.of(first)
    info = answer if isinstance(answer, ModelInfo) else None
    if _only_helps(first.path, info):
        return None
    part = _part(first.path)
    stem = _name(part.stem if part else first.path.stem)
    return Model(
        id=stem,
        title=stem,
        path=first.path,
        parts=tuple(file.path for file in files),
        format="gguf",
        quant=info.quant if info else quant_of_name(stem),
        size_bytes=sum(file.size_bytes for file in files),
        info=info,
        problem=_problem(answer, part, files),
    )


def _only_helps(path: Path, info: ModelInfo | None) -> bool:
    """By the header; a name decides only where no architecture is told, for models carry such words in their names."""
    if info is not None and info.architecture is not None:
        return info.kind in _HELPERS
    return any(name in path.name.lower() for name in _HELPER_NAMES)


def _problem(answer: ModelInfo | BadFile, part: Part | None, files: list[Found]) -> WeighbridgeError | None:
    if part is not None and len(files) < part.count:
        return _missing_parts(part, files)
    if isinstance(answer, BadFile):
        return answer
    if part is None and answer.split is not None:
        return BadFile("model.part_renamed", number=answer.split[0], count=answer.split[1])
    return None


def _missing_parts(part: Part, files: list[Found]) -> WeighbridgeError:
    here = {found.number for file in files if (found := _part(file.path))}
    missing: list[str] = []
    for number in range(1, part.count + 1):
        if number not in here and len(missing) < MAX_NAMED_PARTS:
            missing.append(f"{part.name(number)}.gguf")
    return BadFile("model.part_missing", missing=", ".join(missing), here=len(here), count=part.count)


def _name(stem: str) -> str:
    """A file's name as text that can be shown, stored and sent: file systems allow any bytes in it."""
    return printable(os.fsencode(stem).decode("utf-8", "replace"))


def _echo(file: Found) -> Model:
    """A model of the fake engine that ships with the program for trials: a JSON object."""
    stem = _name(file.path.stem)
    model = Model(stem, stem, file.path, (file.path,), "echo", None, file.size_bytes)
    try:
        sound = file.size_bytes <= MAX_ECHO_BYTES and isinstance(json.loads(file.path.read_bytes()), dict)
    except (OSError, ValueError, RecursionError):
        sound = False
    return model if sound else replace(model, problem=BadFile("model.echo"))


def _with_unique_ids(rows: list[_Row]) -> list[Model]:
    """The models with ids that differ: the stem, where two clash owner/repo/stem, then the path, then the file's."""
    models = [row.model for row in rows]
    for longer in (_owner_id, _path_id, _file_id):
        counts = Counter(model.id.casefold() for model in models)
        models = [
            model if counts[model.id.casefold()] == 1 else replace(model, id=longer(row))
            for model, row in zip(models, rows, strict=True)
        ]
    return models


def _owner_id(row: _Row) -> str:
    try:
        above = row.model.path.relative_to(row.folder).parent.parts
    except ValueError:
        above = ()
    return "/".join((*(above[-2:] or (row.folder.name,)), row.model.title))


def _path_id(row: _Row) -> str:
    return f"{_name(row.model.path.parent.as_posix())}/{row.model.title}"


def _file_id(row: _Row) -> str:
    """For files side by side whose names differ in their ends alone: a whole model beside the parts it was made of."""
    return _name(row.model.path.as_posix())
