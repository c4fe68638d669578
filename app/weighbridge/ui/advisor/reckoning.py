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
from weighbridge.library.model import Model
from weighbridge.ui.weighing_sources import Sources
from weighbridge_engines.api import Load


@dataclass(frozen=True)
class Asked:
    """What is reckoned: the machine that is meant, and `given`, the answers that the user gave by their fields; the
    others are prefilled.
    """

    around: Surroundings
    meter: Speedometer
    models: tuple[Model, ...]
    context: int
    elsewhere: bool
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Reckoned:
    """All ten answers, where those that were not given are from, and what follows."""

    prefilled: Prefilled
    advice: Advice


def reckon(asked: Asked, sources: Sources) -> Reckoned:
    """What follows from what was asked. It weighs some models, which takes some tens of milliseconds."""
    ground = _ground(asked, sources)
    before = prefilled(ground, asked.context)
    told = replace(before, answers=replace(before.answers, **asked.given))
    return Reckoned(told, advise(told.answers, ground))


def _ground(asked: Asked, sources: Sources) -> Ground:
    shelf = shelf_of(asked.models, _weigher(asked, sources), sources.default_load)
    return ground_of(asked.around, shelf, elsewhere=asked.elsewhere)


def _weigher(asked: Asked, sources: Sources) -> Callable[[Model, Load, str], Choice]:
    def by(model: Model, load: Load, engine_id: str) -> Choice:
        around, beside = asked.around.if_unused(model.id), sources.parts.beside(load)
        choice = weigh(model, sources.blueprints.of(model), load, around, engine_id=engine_id, beside=beside)
        return replace(choice, speeds=asked.meter.of(choice))

    return by
