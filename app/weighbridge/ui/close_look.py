"""One model looked at closely, off the GUI thread: earlier loads, the engine's own figure, what would help it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbridge.base.task import Task
from weighbridge.choices.changes import Change, changes
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.corrections import after_loads, after_table, planned_load
from weighbridge.choices.family import siblings
from weighbridge.choices.offered import HUB
from weighbridge.choices.speeds import speeds_of
from weighbridge.estimates.estimate import Basis
from weighbridge.estimates.fit import Verdict, longest_context
from weighbridge.formats.head import Head
from weighbridge.hardware.memory_types import load_memory_types
from weighbridge.library.model import Model
from weighbridge.running.sizing import Table
from weighbridge.running.speed_observations import SpeedObservation
from weighbridge.ui.weighing_sources import Sources
from weighbridge_engines.api import Cause, Load


@dataclass(frozen=True)
class Closely:
    """A model looked at closely, and the longest context that fits.

    `changes` would make it fit, or write `wanted_tps`; None where nothing has to be changed for that.
    """

    choice: Choice
    longest: int | None = None
    changes: tuple[Change, ...] | None = None
    wanted_tps: float | None = None


@dataclass(frozen=True)
class Look:
    """What is to be looked at. `others` are those beside it. `is_other`: `around` is not this machine, so nothing that
    happened here, and no engine that is here, tells anything of it. `heads` are the headers of a model that is not
    here, one for each part.
    """

    model: Model
    load: Load
    around: Surroundings
    others: Sequence[Model]
    runs: Sequence[SpeedObservation]
    wanted_tps: float | None = None
    is_other: bool = False
    heads: tuple[Head, ...] = ()


def look_closely(asked: Look, sources: Sources, task: Task) -> Closely:
    """Takes its time: not for the GUI thread."""
    model, around = asked.model, asked.around
    beside = sources.parts.beside(asked.load)
    choice = weigh(model, sources.blueprints.of(model), asked.load, around, beside=beside, with_remedy=True)
    if choice.fit is None or choice.blueprint is None:
        return Closely(choice, wanted_tps=asked.wanted_tps)
    longest = longest_context(choice.blueprint, choice.fit.plan, choice.places)
    if not asked.is_other:
        choice = after_loads(choice, around, sources.past())
        choice = _told_by_engine(choice, asked, sources, task) if beside.nothing else choice
    choice = replace(choice, speeds=speeds_of(choice, around, sources.speeds.tables, asked.runs))
    return Closely(choice, longest, _changes(choice, asked, sources), asked.wanted_tps)


def _changes(choice: Choice, asked: Look, sources: Sources) -> tuple[Change, ...] | None:
    """What would help; None where it is well as it is."""
    if not needs_change(choice, asked.wanted_tps):
        return None
    smaller = ((one, sources.blueprints.of(one)) for one in siblings(choice.model, asked.others))
    tables, wanted = sources.speeds.tables, asked.wanted_tps
    return changes(choice, asked.around, tables, asked.runs, smaller, wanted, load_memory_types())


def needs_change(choice: Choice, wanted_tps: float | None) -> bool:
    """Whether it does not fit, or is known to write slower than what is wanted."""
    if choice.fit is None or choice.runner is None:
        return False
    writing = choice.speeds.decode if choice.speeds else None
    slow = wanted_tps is not None and writing is not None and writing.mid_tps < wanted_tps
    return choice.fit.verdict is Verdict.NO or slow


def _told_by_engine(choice: Choice, asked: Look, sources: Sources, task: Task) -> Choice:
    """With the engine's own figures, where it offers them for just these devices and nothing was measured."""
    runner, around = choice.runner, asked.around
    if runner is None or not runner.installed or choice.fit is None:
        return choice
    engine = around.engines.get(runner.engine_id)
    if engine is None or engine.size is None or choice.fit.estimate.basis is Basis.MEASURED:
        return choice
    table = _table(runner.engine_id, choice, asked, sources, task)
    exact = after_table(choice, around, table) if isinstance(table, Table) else None
    return choice if exact is None else replace(exact, last_off=choice.last_off)


def _table(engine_id: str, choice: Choice, asked: Look, sources: Sources, task: Task) -> Table | Cause | None:
    """What the engine says; None where it cannot be asked: the files are not here, and their headers neither."""
    sizing, load = sources.sizing, planned_load(choice)
    if sizing is None:
        return None
    if asked.heads:
        return sizing.table_of_heads(engine_id, asked.heads, load, task)
    return None if choice.model.source == HUB else sizing.table(engine_id, choice.model.parts, load, task)
