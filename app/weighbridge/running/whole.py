"""Whether cards hold a model whole: then a batch of its prompt takes no time worth saving."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from weighbridge.base.errors import WeighbridgeError
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Place, PlaceKind
from weighbridge.estimates.memory import estimate
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.choose import HoldWhole, engine_for
from weighbridge.running.places import places_for
from weighbridge.running.plans import plan_of
from weighbridge.running.scales import BlueprintOf
from weighbridge_engines.api import Engine, Load


def cards_of(
    machine: Callable[[], Machine | None], engines: Mapping[str, Engine], blueprint_of: BlueprintOf
) -> HoldWhole:
    """What tells whether the cards of `machine()`, with what engines see of them, hold a model whole under a load.

    False while the machine is not known, and where nothing is known of the model or nothing here runs it.
    """

    def hold(model: Model, load: Load) -> bool:
        here, blueprint = machine(), blueprint_of(model)
        if here is None or blueprint is None:
            return False
        try:
            engine = engine_for(model, engines.values(), load, lambda: here)
        except WeighbridgeError:
            return False
        return whole_on_cards(blueprint, load, engine.id, here)

    return hold


def whole_on_cards(blueprint: Blueprint, load: Load, engine_id: str, machine: Machine) -> bool:
    """Whether cards hold all layers when nothing else lies there. Pure.

    By what cards have and not by what is free now: how a model is loaded must not change because it is loaded.
    """
    layers = len(blueprint.weights.layers) + 1
    if load.cpu_experts or (load.gpu_layers is not None and load.gpu_layers < layers):
        return False
    places = tuple(map(_empty, places_for(machine, engine_id)))
    cards = [place for place in places if place.kind is PlaceKind.DEDICATED]
    if not cards:
        return False
    needed = estimate(blueprint, plan_of(load, engine_id), places)
    fits = all(needed.share(card.id).known_bytes <= (card.total_bytes or 0) for card in cards)
    return fits and needed.total_bytes is not None


def _empty(place: Place) -> Place:
    return replace(place, free_bytes=place.total_bytes) if place.kind is PlaceKind.DEDICATED else place
