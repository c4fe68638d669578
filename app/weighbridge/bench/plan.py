"""What is measured, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from weighbridge.base.errors import WeighbridgeError
from weighbridge.bench.workload import GREEDY, Workload
from weighbridge.library.model import Model
from weighbridge_engines.api import Engine, Load

WARM_UP_TOKENS = 16


class Act(StrEnum):
    """One thing to do with an entry."""

    LOAD = "load"
    WARM_UP = "warm_up"
    ASK = "ask"
    END = "end"


class Fresh(StrEnum):
    """How a prompt is read anew at each turn: every engine is asked to, or each turn begins with other words."""

    ASKED = "asked"
    PREFIXED = "prefixed"


@dataclass(frozen=True)
class Entry:
    """One model by one engine. `model` has an id of its own among the entries of a plan, `model_id` is the one that it
    has elsewhere. `refused` is why it cannot even be tried, `engine` None where none can be named.
    """

    name: str
    model: Model
    load: Load
    engine: Engine | None = None
    refused: WeighbridgeError | None = None
    model_id: str = ""


@dataclass(frozen=True)
class Step:
    """`entry` is its place in the plan; `turn` counts from 1, for ASK."""

    act: Act
    entry: int
    turn: int = 0


@dataclass(frozen=True)
class Plan:
    """`turns` are measured of each entry; a warm-up before them is not. `interleaved`: all are loaded at once and take
    turns, so that a machine that grows warm or busy does so for all; else one after the other.
    """

    entries: tuple[Entry, ...]
    workload: Workload
    turns: int = 1
    warm_up: bool = True
    interleaved: bool = False
    seed: int | None = None

    @property
    def fresh(self) -> Fresh:
        """By request where every engine has a word for it; else all prompts differ, for all entries alike."""
        engines = [entry.engine for entry in self.entries if entry.engine is not None]
        return Fresh.ASKED if all(engine.dialect.uncached for engine in engines) else Fresh.PREFIXED


def with_own_ids(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries with the id of each model, and each name, made unlike all before it: "name", "name #2"."""
    names = _unlike([entry.name for entry in entries])
    ids = _unlike([entry.model.id for entry in entries])
    return tuple(
        replace(
            entry,
            name=name,
            model=replace(entry.model, id=own),
            load=replace(entry.load, alias=own),
            model_id=entry.model.id,
        )
        for entry, name, own in zip(entries, names, ids, strict=True)
    )


def names_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Short names for pairs of a model and an engine: without what all of them share, as long as something is left."""
    models, engines = ({pair[place] for pair in pairs} for place in (0, 1))
    if len(models) == 1 and len(engines) > 1:
        return [engine or model for model, engine in pairs]
    if len(engines) == 1 and len(models) > 1:
        return [model for model, _ in pairs]
    return [" · ".join(filter(None, pair)) for pair in pairs]


def fit_together(needs_bytes: Sequence[int], available_bytes: int | None) -> bool:
    """Whether all can be loaded at once. Where nobody knows how much is free, they are tried."""
    return available_bytes is None or sum(needs_bytes) <= available_bytes


def steps(plan: Plan) -> Iterator[Step]:
    """All there is to do, in order."""
    places = range(len(plan.entries))
    return _in_turns(plan, places) if plan.interleaved else _one_by_one(plan, places)


def body(plan: Plan, entry: Entry, step: Step) -> dict[str, Any]:
    """The request for `step`. The first turn asks exactly the prompt; others may begin with a number of their own."""
    engine, workload = entry.engine, plan.workload
    uncached: Mapping[str, Any] = {} if engine is None else engine.dialect.uncached
    seed = {} if plan.seed is None else {"seed": plan.seed}
    return {
        "model": entry.model.id,
        "messages": [{"role": "user", "content": _head(plan, step) + workload.prompt}],
        "max_tokens": min(workload.tokens, WARM_UP_TOKENS) if step.act is Act.WARM_UP else workload.tokens,
        "stream": True,
        **GREEDY,
        **seed,
        **uncached,
    }


def _head(plan: Plan, step: Step) -> str:
    """What makes the start of a prompt unlike that of all other turns."""
    if step.act is Act.WARM_UP:
        return "Turn 0.\n\n"
    return "" if step.turn == 1 or plan.fresh is Fresh.ASKED else f"Turn {step.turn}.\n\n"


def _one_by_one(plan: Plan, places: range) -> Iterator[Step]:
    for place in places:
        yield from _ready(plan, place)
        for turn in range(1, plan.turns + 1):
            yield Step(Act.ASK, place, turn)
        yield Step(Act.END, place)


def _in_turns(plan: Plan, places: range) -> Iterator[Step]:
    """Back and forth, so that the first of a turn is not always the same one."""
    for place in places:
        yield from _ready(plan, place)
    for turn in range(1, plan.turns + 1):
        for place in places if turn % 2 else reversed(places):
            yield Step(Act.ASK, place, turn)
    for place in places:
        yield Step(Act.END, place)


def _ready(plan: Plan, place: int) -> Iterator[Step]:
    yield Step(Act.LOAD, place)
    if plan.warm_up:
        yield Step(Act.WARM_UP, place)


def _unlike(names: Sequence[str]) -> list[str]:
    made: list[str] = []
    for name in names:
        count, own = 1, name
        while own in made:
            count += 1
            own = f"{name} #{count}"
        made.append(own)
    return made
