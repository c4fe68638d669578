"""What advice stands on beside the answers: the machine, the engines and their builds, the models that are here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from weighbridge.choices.advice.answers import Answers
from weighbridge.choices.choice import Choice, Surroundings
from weighbridge.library.model import Model
from weighbridge.running.builds import Offer, Recipe
from weighbridge.running.engines import Engines
from weighbridge_engines.api import Engine, Load

WeighBy: TypeAlias = Callable[[Model, Load, str], Choice]
"""Weighs a model as a load would load it, by the engine of that id; with its speeds where these are known."""

Start: TypeAlias = Callable[[Model], Load]
"""How a model is loaded unless somebody says otherwise."""


@dataclass(frozen=True)
class Shelf:
    """The models that are here, and how they are weighed and loaded."""

    models: tuple[Model, ...]
    weigh: WeighBy
    start: Start


@dataclass(frozen=True)
class Ground:
    """`recipes` are builds that could be installed, `offers` those that are not in use. `elsewhere`: the machine is one
    that somebody thinks of, where nothing is installed and every engine sees the cards that it can use; `imagined`: of
    that one nothing is known but its kind, not even how many cards it has. `shelf` is None where no models are looked
    at. `context` is that of the settings, `attached` are the endpoints that are here: their titles by the presets.
    """

    around: Surroundings
    offers: tuple[Offer, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    shelf: Shelf | None = None
    elsewhere: bool = False
    imagined: bool = False
    context: int = Answers().context
    attached: Mapping[str, str] = field(default_factory=dict)

    def engine(self, engine_id: str) -> Engine | None:
        """The engine of that id, as the build in use; None for one that is no part of the program."""
        return self.around.engines.get(engine_id)


def ground_of(
    around: Surroundings,
    shelf: Shelf | None,
    context: int,
    attached: Mapping[str, str],
    *,
    elsewhere: bool = False,
) -> Ground:
    """The ground over the engines of `around`, with what their live mapping tells of builds."""
    ground = Ground(around, shelf=shelf, elsewhere=elsewhere, context=context, attached=attached)
    engines = around.engines
    if not isinstance(engines, Engines):
        return ground
    return replace(ground, offers=engines.offers(), recipes=engines.absent)


def shelf_of(models: Iterable[Model], weigh: WeighBy, start: Start) -> Shelf:
    """The shelf with the models that are files here, and sound: what an endpoint serves is loaded elsewhere."""
    sound: Sequence[Model] = [model for model in models if model.problem is None and model.remote is None]
    return Shelf(tuple(sound), weigh, start)
