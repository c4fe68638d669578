"""Making a list of models out of the files in some folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.library.files import Found, find_files, stamp_of
from weighbridge.library.full_headers import FullHeaders, has_table
from weighbridge.library.headers import Headers
from weighbridge.library.model import Key, Model, key_of
from weighbridge.library.rows import Row, in_full, rows_below, shown_name

_HELPERS = frozenset({Kind.PROJECTION, Kind.IMATRIX})
"""What is shown beside its model alone."""


@dataclass(frozen=True)
class Listing:
    """The models found, by id, and what was passed over and why.

    `stamps` tell, by a model's path and format, from which state of its files it was made.
    """

    models: tuple[Model, ...] = ()
    skipped: tuple[WeighbridgeError, ...] = ()
    stamps: dict[Key, str] = field(default_factory=dict)


def scan(folders: Sequence[Path], task: Task) -> tuple[Model, ...]:
    """The models below `folders`, by id. A damaged file is a row with its problem. Raises Cancelled."""
    return list_models(folders, task, Headers(), FullHeaders()).models


def list_models(folders: Sequence[Path], task: Task, headers: Headers, full: FullHeaders) -> Listing:
    """As `scan`, with headers remembered from an earlier listing, and full ones where they were read before."""
    search = find_files(folders, task)
    by_root: dict[Path, list[Found]] = {}
    for file in search.files:
        by_root.setdefault(file.folder, []).append(file)
    found = (row for root, files in by_root.items() for row in rows_below(root, files, headers, task))
    rows = [row for row in _once(found) if row.kind not in _HELPERS]
    headers.keep_only({file.path for file in search.files})
    stamps = {key_of(row.model): stamp_of(row.files) for row in rows}
    models = [with_known(model, stamps[key_of(model)], full) for model in _with_unique_ids(rows)]
    models.sort(key=lambda model: model.id.casefold())
    return Listing(tuple(models), search.skipped, stamps)


def with_known(model: Model, stamp: str, full: FullHeaders) -> Model:
    """`model` with what its full header said, or why it could not be read, where that was tried before."""
    answer = full.known(stamp) if has_table(model) else None
    if isinstance(answer, ModelInfo):
        return in_full(model, answer)
    return replace(model, problem=answer) if isinstance(answer, BadFile) else model


def _once(rows: Iterable[Row]) -> Iterator[Row]:
    """Each model once, however many links lead to its files."""
    seen: set[tuple[int, int]] = set()
    for row in rows:
        parts = set(row.model.parts)
        own = {file.identity for file in row.files if file.path in parts}
        if not own or not own <= seen:
            yield row
        seen |= own


def _with_unique_ids(rows: list[Row]) -> list[Model]:
    """The models with ids that differ: the stem, where two clash owner/repo/stem, then the path, then the file's."""
    models = [row.model for row in rows]
    for longer in (_owner_id, _path_id, _file_id, _format_id):
        counts = Counter(model.id.casefold() for model in models)
        models = [
            model if counts[model.id.casefold()] == 1 else replace(model, id=longer(row))
            for model, row in zip(models, rows, strict=True)
        ]
    return models


def _owner_id(row: Row) -> str:
    try:
        above = row.model.path.relative_to(row.root).parent.parts
    except ValueError:
        above = ()
    return "/".join((*(above[-2:] or (row.root.name,)), row.model.title))


def _path_id(row: Row) -> str:
    return f"{shown_name(row.model.path.parent.as_posix())}/{row.model.title}"


def _file_id(row: Row) -> str:
    """For files side by side whose names differ in their ends alone: a whole model beside the parts it was made of."""
    return shown_name(row.model.path.as_posix())


def _format_id(row: Row) -> str:
    """For one folder that holds a model in two formats."""
    return f"{_file_id(row)} ({row.model.format})"
