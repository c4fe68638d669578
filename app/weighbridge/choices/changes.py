"""What to change so that a model fits, or reaches a speed: the cheapest change of each kind. Pure.

Every change is tried as a whole: weighed and timed by the functions that everything else goes through.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.runner import CALCULATED, ONLY_ON
from weighbridge.choices.speeds import Speedometer
from weighbridge.choices.upgrades import (
    Upgrade,
    cards_to_add,
    faster_memory,
    is_of_laptop,
    more_memory,
    one_more_card,
    usable,
    with_card,
)
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.fit import GOOD, SHORTEST_CONTEXT, SMALLER_CACHE, WHOLE
from weighbridge.hardware.machine import Device, MemoryKind
from weighbridge.hardware.memory_types import MemoryType
from weighbridge.library.model import Model
from weighbridge.running.paces import SpeedTables
from weighbridge.running.speed_observations import SpeedObservation
from weighbridge_engines.api import Load

_CONTEXT_STEP = 1024


class ChangeKind(StrEnum):
    """What is changed, in the order of what that costs."""

    SETTINGS = "settings"
    BUILD = "build"
    QUANT = "quant"
    MEMORY = "memory"
    MEMORY_TYPE = "memory_type"
    CARD = "card"


@dataclass(frozen=True)
class Change:
    """One change. `choice` is what the model, or a smaller one, is with it: its load, verdict and speeds.

    `device` is the card that another build would use, or that is added; else `upgrade` says what is added.
    """

    kind: ChangeKind
    choice: Choice
    device: Device | None = None
    upgrade: Upgrade | None = None


def changes(
    choice: Choice,
    around: Surroundings,
    tables: SpeedTables,
    past: Sequence[SpeedObservation],
    siblings: Iterable[tuple[Model, Blueprint | None]],
    wanted_tps: float | None = None,
    memory_types: Sequence[MemoryType] = (),
    depth: int | None = None,
) -> tuple[Change, ...]:
    """For a model that does not fit, or writes slower than `wanted_tps` with `depth` tokens in the cache, the cheapest
    change of each kind that does it.

    In the order of what they cost: settings, another build of the engine, a smaller quantisation that is here
    (`siblings`, the largest first), more or faster memory, one more card. Empty where nothing needs to be changed.
    """
    trial = _Trial(choice, around, _Clock(tables, past, depth), wanted_tps)
    if choice.fit is None or choice.blueprint is None or choice.runner is None or trial.is_enough(choice):
        return ()
    kinds = (
        trial.settings(),
        trial.builds(),
        trial.quants(siblings),
        trial.memories(),
        trial.memory_types(memory_types),
        trial.cards(tables),
    )
    return tuple(found for kind in kinds if (found := next(kind, None)) is not None)


@dataclass(frozen=True)
class _Clock:
    """What speeds are told by."""

    tables: SpeedTables
    past: Sequence[SpeedObservation]
    depth: int | None

    def timed(self, choice: Choice, around: Surroundings) -> Choice:
        """`choice` with its speeds."""
        return replace(choice, speeds=Speedometer(around, self.tables, self.past).of(choice, depth=self.depth))


class _Trial:
    """One model that is not well as it is. Each method gives the changes of one kind that do it, the cheapest first."""

    def __init__(self, choice: Choice, around: Surroundings, clock: _Clock, wanted_tps: float | None) -> None:
        self._choice = choice
        self._around = around
        self._clock = clock
        self._wanted_tps = wanted_tps

    def is_enough(self, choice: Choice) -> bool:
        """Whether `choice`, in these surroundings, needs no change."""
        return self._reaches(self._clock.timed(choice, self._around))

    def settings(self) -> Iterator[Change]:
        """What costs nothing but some of the context: see `_easier`."""
        loads = [self._choice.load, *_easier(self._choice)]
        for load in loads[1:]:
            yield from self._if_enough(ChangeKind.SETTINGS, self._weighed(load))
        for load in (loads[0], *loads[1:][-1:]):
            yield from self._shorter(load)

    def builds(self) -> Iterator[Change]:
        """A build of the engine that uses a card which none here can use."""
        elsewhere = self._choice.elsewhere
        if elsewhere is not None:
            machine = self._around.machine
            device = usable(elsewhere.device, self._engine_id)
            others = tuple(device if each.id == device.id else each for each in machine.devices)
            around = replace(self._around, machine=replace(machine, devices=others))
            yield from self._if_enough(ChangeKind.BUILD, self._weighed(self._choice.load, around), device=device)

    def quants(self, siblings: Iterable[tuple[Model, Blueprint | None]]) -> Iterator[Change]:
        """A smaller quantisation that can be run here."""
        for model, blueprint in siblings:
            load = replace(self._choice.load, model=str(model.path), alias=model.id)
            weighed = self._clock.timed(weigh(model, blueprint, load, self._around), self._around)
            if weighed.runner is not None and weighed.runner.installed:
                yield from self._if_enough(ChangeKind.QUANT, weighed)

    def memories(self) -> Iterator[Change]:
        """More system memory."""
        if self._can_be_built_on:
            yield from self._upgraded(ChangeKind.MEMORY, more_memory(self._around.machine))

    def memory_types(self, kinds: Sequence[MemoryType]) -> Iterator[Change]:
        """Faster system memory, where a speed is wanted."""
        if self._can_be_built_on and self._wanted_tps is not None:
            yield from self._upgraded(ChangeKind.MEMORY_TYPE, faster_memory(self._around.machine, kinds))

    def cards(self, tables: SpeedTables) -> Iterator[Change]:
        """One more of the cards that are there; where there is none, or that is not enough, one out of the table."""
        machine, engine_id = self._around.machine, self._engine_id
        there = [usable(each, engine_id) for each in machine.devices if each.memory.kind is MemoryKind.DEDICATED]
        if not self._can_be_built_on or any(is_of_laptop(card.name) for card in there):
            return
        others = [each for each in machine.devices if each.memory.kind is not MemoryKind.DEDICATED]
        makers = ONLY_ON.get(engine_id)
        cards = (card for card in cards_to_add(tables.cards) if makers is None or card.vendor in makers)
        upgrades = chain(
            one_more_card(replace(machine, devices=(*there, *others)), there),
            (with_card(machine, card, engine_id) for card in cards),
        )
        yield from self._upgraded(ChangeKind.CARD, upgrades)

    @property
    def _engine_id(self) -> str:
        return self._choice.runner.engine_id if self._choice.runner else ""

    @property
    def _can_be_built_on(self) -> bool:
        """A chip that brings its memory with it is what was bought."""
        return all(device.memory.kind is not MemoryKind.UNIFIED for device in self._around.machine.devices)

    def _upgraded(self, kind: ChangeKind, upgrades: Iterable[Upgrade]) -> Iterator[Change]:
        """What is bought should hold a model whole, where a speed does not say otherwise; else in part."""
        in_part: Change | None = None
        for upgrade in upgrades:
            choice = self._weighed(self._choice.load, replace(self._around, machine=upgrade.machine))
            if self._reaches(choice) and choice.fit is not None:
                change = Change(kind, choice, upgrade=upgrade)
                if self._wanted_tps is not None or choice.fit.verdict in WHOLE:
                    yield change
                    return
                in_part = in_part or change
        if in_part is not None:
            yield in_part

    def _shorter(self, load: Load) -> Iterator[Change]:
        """The longest context, in steps from the shortest on, with which it is enough."""
        context = self._choice.fit.plan.context if self._choice.fit else 0
        shorter = range(SHORTEST_CONTEXT, context, _CONTEXT_STEP)[::-1]

        def tried(tokens: int) -> Choice:
            return self._weighed(replace(load, context=tokens))

        first = bisect_left(shorter, True, key=lambda tokens: self._reaches(tried(tokens)))
        if first < len(shorter):
            yield Change(ChangeKind.SETTINGS, tried(shorter[first]))

    def _weighed(self, load: Load, around: Surroundings | None = None) -> Choice:
        """The model, loaded so, by the same engine."""
        where, model = around or self._around, self._choice.model
        engine_id = self._engine_id if self._engine_id in (*where.engines, *CALCULATED) else None
        weighed = weigh(model, self._choice.blueprint, load, where, engine_id=engine_id)
        return self._clock.timed(weighed, where)

    def _if_enough(self, kind: ChangeKind, choice: Choice, device: Device | None = None) -> Iterator[Change]:
        if self._reaches(choice):
            yield Change(kind, choice, device)

    def _reaches(self, choice: Choice) -> bool:
        if choice.fit is None or choice.fit.verdict not in GOOD:
            return False
        writing = choice.speeds.decode if choice.speeds else None
        return self._wanted_tps is None or (writing is not None and writing.mid_tps >= self._wanted_tps)


def _easier(choice: Choice) -> Iterator[Load]:
    """Loads that give up one thing more each: a division told by hand, slots, the precision of the cache."""
    load, plan = choice.load, choice.fit.plan if choice.fit else None
    if plan is None or choice.blueprint is None:
        return
    if load.gpu_layers is not None or load.cpu_experts is not None:
        load = replace(load, gpu_layers=None, cpu_experts=None)
        yield load
    if load.slots > 1:
        load = replace(load, slots=1, context=plan.context if plan.unified else plan.slot_cells)
        yield load
    if plan.flash_attention and plan.key_type == plan.value_type == "f16" and choice.blueprint.shape.layers:
        yield replace(load, key_type=SMALLER_CACHE, value_type=SMALLER_CACHE)
