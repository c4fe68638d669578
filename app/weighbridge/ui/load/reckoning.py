"""What a load would take and how fast it would be, and what each changed setting makes of that. No Qt here.

By the functions that everything else goes through; it takes some milliseconds, and is done off the GUI thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weighbridge.base.task import Task
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.family import siblings
from weighbridge.choices.speeds import Speedometer
from weighbridge.choices.ways import Way, ways_out
from weighbridge.estimates.estimate import PlaceKind
from weighbridge.estimates.fit import WHOLE
from weighbridge.library.model import Model
from weighbridge.running.load_settings import Change, Control, Kind, refusal
from weighbridge.running.speed_observations import SpeedObservation
from weighbridge.ui.load.draft import Draft
from weighbridge.ui.weighing_sources import Sources
from weighbridge_engines.api import Cause, Load

WEIGHED = frozenset(
    {
        "adapters",
        "batch",
        "cache_precision",
        "context",
        "cpu_experts",
        "device",
        "draft",
        "engine",
        "flash_attention",
        "gpu_layers",
        "key_type",
        "main_gpu",
        "mapped",
        "micro_batch",
        "projector",
        "provider",
        "slots",
        "split",
        "split_mode",
        "threads",
        "unified",
        "value_type",
        "whole_window",
    }
)
"""Settings that the estimate knows."""


@dataclass(frozen=True)
class Effect:
    """What a change adds, in bytes of all places and tokens a second; None is unknown."""

    memory_bytes: int | None = None
    tps: float | None = None


@dataclass(frozen=True)
class Reckoned:
    """The load that was asked for, and what is set now. `effects` are of each changed setting by itself, by name;
    `options` of each value that a setting could be given, by name and value. `one_card` is the load on the best single
    card that holds all of it, `no_speed` why the speed is unknown, where it is. `ways` are there where it does not fit.
    """

    choice: Choice
    before: Choice
    effects: Mapping[str, Effect] = field(default_factory=dict)
    options: Mapping[tuple[str, Any], Effect] = field(default_factory=dict)
    one_card: Choice | None = None
    no_speed: Cause | None = None
    ways: tuple[Way, ...] = ()

    @property
    def whole(self) -> Effect:
        """What all changes together add."""
        return between(self.before, self.choice)


@dataclass(frozen=True)
class Asked:
    """What is to be reckoned. `others` are the models beside it."""

    model: Model
    draft: Draft
    around: Surroundings
    others: Sequence[Model]
    runs: Sequence[SpeedObservation]


def reckon(asked: Asked, sources: Sources, task: Task) -> Reckoned:
    """All of it, for one state of the draft. Raises Cancelled where it is no longer wanted."""
    clock = _Clock(asked, sources)
    draft, model = asked.draft, asked.model
    now = clock.of(model, draft.load)
    found = Reckoned(now, clock.of(model, draft.before), no_speed=clock.why_unknown(now))
    task.check()
    found = replace(found, effects=_effects(clock, draft, now, task), one_card=_one_card(clock, draft, now))
    task.check()
    found = replace(found, options=_options(clock, draft, now, task))
    takes = lambda load: refusal(load, draft.engine) is None  # noqa: E731 - one use
    return replace(found, ways=ways_out(now, clock.of, siblings(model, asked.others), takes))


def between(before: Choice, after: Choice) -> Effect:
    """What `after` needs more, and how much faster it is."""
    old, new = _total_bytes(before), _total_bytes(after)
    memory = None if old is None or new is None else new - old
    slow, fast = _tps(before), _tps(after)
    return Effect(memory, None if slow is None or fast is None else fast - slow)


class _Clock:
    """Weighs and times loads in one state of the machine, each once."""

    def __init__(self, asked: Asked, sources: Sources) -> None:
        self._around = asked.around.if_unused(asked.model.id)
        self._sources = sources
        self._meter = Speedometer(self._around, sources.speeds.tables, asked.runs)
        self._known: list[tuple[Model, Load, Choice]] = []

    def of(self, model: Model, load: Load) -> Choice:
        """`model` as `load` would load it, with its speeds."""
        known = next((choice for one, told, choice in self._known if one is model and told == load), None)
        if known is not None:
            return known
        beside, blueprint = self._sources.parts.beside(load), self._sources.blueprints.of(model)
        engine_id = load.engine if load.engine in self._around.engines else None
        made = weigh(model, blueprint, load, self._around, engine_id=engine_id, beside=beside)
        made = replace(made, speeds=self._meter.of(made))
        self._known.append((model, load, made))
        return made

    def why_unknown(self, choice: Choice) -> Cause | None:
        """Why `choice` has no speed; None where it has one."""
        return None if _tps(choice) is not None else self._meter.why_unknown(choice)


def _effects(clock: _Clock, draft: Draft, now: Choice, task: Task) -> dict[str, Effect]:
    """Of each changed setting by itself."""
    found: dict[str, Effect] = {}
    for name in draft.changed:
        task.check()
        if name in WEIGHED:
            found[name] = between(clock.of(now.model, draft.without(name)), now)
    return found


def _options(clock: _Clock, draft: Draft, now: Choice, task: Task) -> dict[tuple[str, Any], Effect]:
    """Of each word that a setting could be."""
    found: dict[tuple[str, Any], Effect] = {}
    for control in draft.controls:
        if control.name not in WEIGHED or control.name in ("engine", "split_mode"):
            continue
        for value in values_of(control):
            task.check()
            found[control.name, value] = between(now, clock.of(now.model, draft.with_value(control.name, value).load))
    return found


def values_of(control: Control) -> tuple[Any, ...]:
    """What a setting can be where that is a short list."""
    if control.kind is Kind.SWITCH:
        return (True, False)
    return control.choices if control.kind is Kind.CHOICE else ()


def is_unweighed(control: Control) -> bool:
    """Whether it changes what is needed, or how fast it is, in a way that the estimate does not know."""
    return control.name not in WEIGHED and not control.changes.isdisjoint({Change.MEMORY, Change.SPEED})


def cards_of(choice: Choice) -> tuple[str, ...]:
    """The names of the cards that the engine can put layers on, in its own order."""
    return tuple(place.name for place in choice.places if place.kind is PlaceKind.DEDICATED)


def _one_card(clock: _Clock, draft: Draft, now: Choice) -> Choice | None:
    """All on one card, where one of several holds it whole: the one where most is left."""
    if len(cards_of(now)) < 2 or "split_mode" not in draft.known:
        return None
    found: list[tuple[int, Choice]] = []
    for place in range(len(cards_of(now))):
        load = replace(draft.load, split_mode="none", main_gpu=place, split=None, gpu_layers=None, cpu_experts=None)
        made = clock.of(now.model, load)
        if made.fit is not None and made.fit.verdict in WHOLE and made.fit.left_bytes is not None:
            found.append((made.fit.left_bytes, made))
    return max(found, key=lambda each: each[0])[1] if found else None


def _total_bytes(choice: Choice) -> int | None:
    return None if choice.fit is None else choice.fit.estimate.total_bytes


def _tps(choice: Choice) -> float | None:
    decode = choice.speeds.decode if choice.speeds else None
    return None if decode is None else decode.mid_tps
