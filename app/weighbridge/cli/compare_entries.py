"""What `compare` is to measure: models by name or path, each by the engines that are named for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weighbridge.base.errors import NotFound, Refused, WeighbridgeError
from weighbridge.base.paths import user_path

if TYPE_CHECKING:
    from weighbridge.bench.plan import Entry
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model
    from weighbridge_engines.api import Engine, Load

FOR_UNKNOWN = 2
"""What a model takes of memory, in sizes of its files, where nothing calculates it: some engines unpack it."""


@dataclass(frozen=True)
class Wanted:
    """A model as it was named, and the ids of engines to load it by; "" is the one that suits it."""

    name: str
    engine_ids: tuple[str, ...] = ("",)


def wanted(words: Sequence[str], engine_ids: Sequence[str], known: Mapping[str, Engine]) -> tuple[Wanted, ...]:
    """What MODEL[:ENGINE] words mean. A name may hold colons: what stands behind the last counts where it is an engine.

    `engine_ids` are for words that name none themselves. Pure.
    """
    return tuple(_wanted(word, tuple(engine_ids) or ("",), known) for word in words)


def models_of(names: Sequence[str], library: Callable[[], Library], known: Mapping[str, Engine]) -> dict[str, Model]:
    """The models of these names: a path first, else out of the `library`, which is asked for once, where need be.

    Raises Refused("compare.engine") where what stands behind the last colon of an unknown name is no engine of `known`.
    """
    found: dict[str, Model] = {}
    listed: list[Library] = []
    for name in names:
        path = user_path(name)
        if name and os.path.exists(path):  # noqa: PTH110 - never raises
            from weighbridge.library.recognise_path import recognise_path

            found[name] = recognise_path(path)
        else:
            listed = listed or [library()]
            found[name] = _in_full(_named(name, listed[0], known))
    return found


def _named(name: str, library: Library, known: Mapping[str, Engine]) -> Model:
    """The model of that name, or why not: of "model:engine" it may be the engine that there is not."""
    head, _, last = name.rpartition(":")
    try:
        return library.resolve(name)
    except NotFound:
        if head and any(model.id == head for model in library.models):
            raise Refused("compare.engine", engine=last, known=sorted(known)) from None
        raise


def entries_of(
    asked: Sequence[Wanted],
    models: Mapping[str, Model],
    engines: Mapping[str, Engine],
    plain_load: Callable[[Model], Load],
    hindered: Callable[[Model, Load], WeighbridgeError | None],
) -> tuple[Entry, ...]:
    """One for each model and engine. `hindered` tells why a load is not even to be tried."""
    from weighbridge.bench.plan import names_of, with_own_ids

    made = [
        _entry(models[one.name], engine_id, engines, plain_load, hindered)
        for one in asked
        for engine_id in one.engine_ids
    ]
    names = names_of([(entry.model.id, entry.load.engine) for entry in made])
    return with_own_ids([replace(entry, name=name) for entry, name in zip(made, names, strict=True)])


def needs_bytes(entries: Sequence[Entry], need: Callable[[Model, Load], int | None]) -> list[int]:
    """What each takes of memory: as calculated, else by the size of its files."""
    return [
        need(entry.model, entry.load) or FOR_UNKNOWN * entry.model.size_bytes
        for entry in entries
        if entry.refused is None
    ]


def _wanted(word: str, engine_ids: tuple[str, ...], known: Mapping[str, Engine]) -> Wanted:
    name, _, last = word.rpartition(":")
    return Wanted(name, (last,)) if name and last in known else Wanted(word, engine_ids)


def _entry(
    model: Model,
    engine_id: str,
    engines: Mapping[str, Engine],
    plain_load: Callable[[Model], Load],
    hindered: Callable[[Model, Load], WeighbridgeError | None],
) -> Entry:
    """Loaded plainly: a preset is made for one engine, and would favour it."""
    from weighbridge.bench.plan import Entry
    from weighbridge.hardware.detect import detect
    from weighbridge.running.choose import engine_for

    load = plain_load(model)
    load = replace(load, engine=engine_id or load.engine)
    try:
        engine = engine_for(model, engines.values(), load, detect)
    except WeighbridgeError as error:
        return Entry(model.id, model, load, engines.get(engine_id), error)
    load = replace(load, engine=engine.id)
    return Entry(model.id, model, load, engine, hindered(model, load))


def _in_full(model: Model) -> Model:
    """With its whole header, which tells its bits per weight. Raises BadFile, and what keeps it from being loaded."""
    from weighbridge.library.full_headers import has_table, read_in_full
    from weighbridge.library.rows import in_full

    if model.problem is not None:
        raise model.problem
    return in_full(model, read_in_full(model)) if has_table(model) else model


def engine_ids_in(told: str | None, known: Mapping[str, Engine]) -> tuple[str, ...]:
    """The engines of `--engines a,b`. Raises Refused("compare.engine") for one that there is not."""
    ids = tuple(one.strip() for one in (told or "").split(",") if one.strip())
    for one in ids:
        if one not in known:
            raise Refused("compare.engine", engine=one, known=sorted(known))
    return ids
