"""Making a list of models out of what lies in some places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace
from operator import is_
from pathlib import Path

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.library.files import Walk, stamp_of
from weighbridge.library.folders import repository_of
from weighbridge.library.full_headers import FullHeaders, has_table
from weighbridge.library.headers import Headers
from weighbridge.library.model import Key, Model, key_of
from weighbridge.library.places import Root, as_root
from weighbridge.library.rows import Row, in_full, shown_name
from weighbridge.library.same_model import is_one
from weighbridge.library.shelves.program import Look
from weighbridge.library.visit import opened, rows_at

_HELPERS = frozenset({Kind.PROJECTION, Kind.IMATRIX})
"""What is shown beside its model alone."""


@dataclass(frozen=True)
class Listing:
    """The models found, by id, and what was passed over and why.

    `stamps` tell, by a model's path and format, from which state of its files it was made. `searched` are the places
    that were looked at; other programs' count only where they are there.
    """

    models: tuple[Model, ...] = ()
    skipped: tuple[WeighbridgeError, ...] = ()
    stamps: dict[Key, str] = field(default_factory=dict)
    searched: tuple[Path, ...] = ()
    _places: dict[Key, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self._places) != len(self.models):
            object.__setattr__(self, "_places", {key_of(model): place for place, model in enumerate(self.models)})

    def known(self, model: Model) -> Model | None:
        """What is listed under the key of `model`."""
        return self.at(key_of(model))

    def at(self, key: Key) -> Model | None:
        """What is listed under `key`."""
        place = self._places.get(key)
        return None if place is None else self.models[place]

    def learned(self, model: Model) -> Listing:
        """The same, with `model` in the place of what was known of it; in constant time, but for the copying."""
        place = self._places.get(key_of(model))
        if place is None:
            return self
        return replace(self, models=(*self.models[:place], model, *self.models[place + 1 :]))

    def settled(self, before: Listing) -> Listing:
        """The same with the models of `before` that are equal to these: who knew them need not look at them again."""
        models = tuple(
            known if (known := before.known(model)) is not None and _is_as(known, model) else model
            for model in self.models
        )
        return replace(self, models=before.models if _are_same(models, before.models) else models)

    def joined(self, models: tuple[Model, ...]) -> Listing:
        """The same with `models` in the place of its own."""
        return replace(self, models=models, _places={})

    def without(self, keys: Set[Key]) -> Listing:
        """The same, but for the models with `keys`."""
        left = tuple(model for model in self.models if key_of(model) not in keys)
        return replace(self, models=left, _places={})


def _is_as(known: Model, model: Model) -> bool:
    """Equal; two errors that tell the same are two objects, and never equal."""
    one, other = known.problem, model.problem
    if one is None or other is None:
        return known == model
    same = (type(one), one.code, one.values) == (type(other), other.code, other.values)
    return same and replace(known, problem=other) == model


def _are_same(models: tuple[Model, ...], others: tuple[Model, ...]) -> bool:
    return len(models) == len(others) and all(map(is_, models, others))


def scan(roots: Iterable[Root | Path], task: Task) -> tuple[Model, ...]:
    """The models at `roots`, by id; a mere path is one of our own. A damaged file is a row with its problem.

    Raises Cancelled.
    """
    return list_models(map(as_root, roots), task, Headers(), FullHeaders()).models


def list_models(roots: Iterable[Root], task: Task, headers: Headers, full: FullHeaders) -> Listing:
    """As `scan`, with headers remembered from an earlier listing, and full ones where they were read before."""
    look = Look(Walk(task), headers, task)
    searched = [place for root in roots for place in opened(root, look.walk)]
    rows = [row for row in _once(row for root in searched for row in rows_at(root, look)) if row.kind not in _HELPERS]
    headers.keep_only(look.walk.paths | {file.path for row in rows for file in row.files})
    stamps = {key_of(row.model): stamp_of(row.files) for row in rows}
    models = [with_known(model, stamps[key_of(model)], full) for model in _with_unique_ids(rows)]
    models.sort(key=lambda model: model.id.casefold())
    return Listing(
        tuple(models), tuple(look.walk.skipped), stamps, tuple(dict.fromkeys(root.path for root in searched))
    )


def with_known(model: Model, stamp: str, full: FullHeaders) -> Model:
    """`model` with what its full header said, or why it could not be read, where that was tried before."""
    answer = full.known(stamp) if has_table(model) else None
    if isinstance(answer, ModelInfo):
        return in_full(model, answer)
    return replace(model, problem=answer) if isinstance(answer, BadFile) else model


def _once(rows: Iterable[Row]) -> list[Row]:
    """Each model once, as it was found first, however many ways lead to its files. Half of a set, of which each part
    is in another model, is nothing new.
    """
    kept: list[Row] = []
    places: dict[frozenset[tuple[int, int]], list[int]] = {}
    seen: set[tuple[int, int]] = set()
    keys: set[Key] = set()
    for row in rows:
        parts = set(row.model.parts)
        own = frozenset(file.identity for file in row.files if file.path in parts)
        alike = places.setdefault(own, []) if own else []
        place = next((each for each in alike if is_one(kept[each].model, row.model)), None)
        is_half = bool(own) and own <= seen and not alike and row.model.problem is not None
        is_there = not own and key_of(row.model) in keys
        if place is not None:
            kept[place] = replace(kept[place], model=_joined(kept[place].model, row.model))
        elif not is_half and not is_there:
            alike.append(len(kept))
            kept.append(row)
            keys.add(key_of(row.model))
        seen |= own
    return kept


def _joined(model: Model, again: Model) -> Model:
    """`model` with what another way to the same files tells beside it."""
    here = {helper.path for helper in model.companions}
    names = dict.fromkeys((*model.aliases, again.id, *again.aliases, *map(str, (again.path, *again.parts))))
    known = {model.id, *map(str, (model.path, *model.parts))}
    return replace(
        model,
        companions=(*model.companions, *(helper for helper in again.companions if helper.path not in here)),
        sha256s=model.sha256s or again.sha256s,
        aliases=tuple(name for name in names if name not in known),
        unused=model.unused or again.unused,
    )


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
    repository = repository_of(row.model.path)
    if repository:
        return f"{shown_name(repository)}/{row.model.title}"
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
