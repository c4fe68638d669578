"""What the Advisor's page shows, reckoned off the GUI thread out of values that were taken on it. No Qt here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weighbridge.choices.advice.advice import Advice
from weighbridge.choices.advice.advise import advise
from weighbridge.choices.advice.ground import Ground, ground_of, shelf_of
from weighbridge.choices.advice.prefill import Prefilled, prefilled
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.speeds import Speedometer
from weighbridge.hardware.machine import Machine, Memory
from weighbridge.library.model import Model
from weighbridge.ui.weighing_sources import Sources
from weighbridge_engines.api import Load

STEP_BYTES = 512 << 20
"""By how much free memory has to move before the advice is reckoned anew: half of the least margin."""


@dataclass(frozen=True)
class Asked:
    """What is reckoned: the machine that is meant, and `given`, the answers that the user gave by their fields; the
    others are prefilled. `attached` are the titles of endpoints by their presets.
    """

    around: Surroundings
    meter: Speedometer
    models: tuple[Model, ...]
    context: int
    elsewhere: bool
    given: Mapping[str, Any]
    attached: Mapping[str, str]


@dataclass(frozen=True)
class Reckoned:
    """All ten answers, where those that were not given are from, and what follows."""

    prefilled: Prefilled
    advice: Advice


def reckon(asked: Asked, sources: Sources) -> Reckoned:
    """What follows from what was asked. It weighs some models, which takes some tens of milliseconds."""
    ground = _ground(asked, sources)
    before = prefilled(ground, asked.given)
    told = replace(before, answers=replace(before.answers, **asked.given))
    return Reckoned(told, advise(told.answers, ground))


def has_moved(before: Machine | None, now: Machine | None) -> bool:
    """Whether another advice may follow: free memory goes up and down all the time, and a page that changes with each
    sample cannot be read.
    """
    if before is None or now is None:
        return True
    if _lasting(before) != _lasting(now):
        return True
    pairs = zip(_memories(before), _memories(now), strict=True)
    return any(abs((was.available_bytes or 0) - (is_now.available_bytes or 0)) >= STEP_BYTES for was, is_now in pairs)


def _lasting(machine: Machine) -> list[object]:
    devices = [(one.id, one.name, one.bandwidth, one.compute_capability) for one in machine.devices]
    totals = [(one.total_bytes, one.available_bytes is None) for one in _memories(machine)]
    return [machine.cpu.name, machine.bandwidth, *devices, *totals]


def _memories(machine: Machine) -> list[Memory]:
    return [machine.memory, *(device.memory for device in machine.devices)]


def _ground(asked: Asked, sources: Sources) -> Ground:
    shelf = shelf_of(asked.models, _weigher(asked, sources), sources.default_load)
    return ground_of(asked.around, shelf, asked.context, asked.attached, elsewhere=asked.elsewhere)


def _weigher(asked: Asked, sources: Sources) -> Callable[[Model, Load, str], Choice]:
    def by(model: Model, load: Load, engine_id: str) -> Choice:
        around, beside = asked.around.if_unused(model.id), sources.parts.beside(load)
        choice = weigh(model, sources.blueprints.of(model), load, around, engine_id=engine_id, beside=beside)
        return replace(choice, speeds=asked.meter.of(choice))

    return by
