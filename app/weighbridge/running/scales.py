"""What the supervisor weighs with: how much memory is free, and how much a load will take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from weighbridge.base.errors import WeighbridgeError
from weighbridge.estimates.beside import Beside, needs
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import HOST, Place, PlaceKind
from weighbridge.estimates.fit import margin_bytes
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.placement import reordered_types
from weighbridge.hardware.cpu import detect_cpu
from weighbridge.hardware.detect import detect
from weighbridge.hardware.memory import detect_memory
from weighbridge.library.model import Model
from weighbridge.running.choose import engine_for
from weighbridge.running.plans import plan_of
from weighbridge.running.shares import on_processor
from weighbridge_engines.api import Engine, Load

BlueprintOf = Callable[[Model], Blueprint | None]
BesideOf = Callable[[Load], Beside]


@dataclass(frozen=True)
class Scales:
    """Both in bytes, None where unknown. They are asked from the supervisor's thread, at each decision."""

    available_bytes: Callable[[], int | None]
    need_bytes: Callable[[Model, Load], int | None]


def machine_scales(
    blueprint_of: BlueprintOf, engines: Mapping[str, Engine], beside_of: BesideOf = lambda _load: Beside()
) -> Scales:
    """This machine's memory, and the one estimator over the digests that `blueprint_of` gives, for the one of `engines`
    that would run each model. What none of them can run takes nothing: nobody has to go for what will be refused.
    `beside_of` tells what a load names beside its model.
    """
    look = cache(detect)
    host = Place(HOST, "", PlaceKind.HOST, reordered=reordered_types(detect_cpu().extensions))

    def need(model: Model, load: Load) -> int | None:
        try:
            engine = engine_for(model, engines.values(), load, look)
        except WeighbridgeError:
            return 0
        told = on_processor(engine, load, look()) if engine.hardware else load
        return need_bytes(blueprint_of(model), told, engine.id, host, beside_of(load))

    return Scales(available_bytes, need)


def no_scales() -> Scales:
    """Nothing is known: one model at a time."""
    return Scales(lambda: None, lambda model, load: None)


def available_bytes() -> int | None:
    """Free memory now, less the margin; None where the system does not tell."""
    memory = detect_memory()
    if memory.available_bytes is None:
        return None
    host = Place(HOST, "", PlaceKind.HOST, memory.total_bytes, memory.available_bytes)
    return max(0, memory.available_bytes - margin_bytes(host))


def need_bytes(
    blueprint: Blueprint | None, load: Load, engine_id: str, host: Place, beside: Beside | None = None
) -> int | None:
    """What `load` takes of the system's memory, `host`, with the engine `engine_id` and what is beside the model;
    None where that is not known.
    """
    if blueprint is None:
        return None
    plan = plan_of(load, engine_id)
    own_bytes = estimate(blueprint, plan, [host]).total_bytes
    if own_bytes is None or beside is None or beside.nothing:
        return own_bytes
    return own_bytes + sum(share.known_bytes for share in needs(beside, plan, [host]))
