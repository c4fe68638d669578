"""A weighed model, put right by what engines say: their own table for this load, or what earlier loads took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weighbridge.choices.choice import Choice, Surroundings
from weighbridge.estimates.fit import judged_by
from weighbridge.estimates.runtime_device import RUNTIMES
from weighbridge.running.calibration import by_table, corrected, device_places
from weighbridge.running.observations import Observation, build_of, situation
from weighbridge.running.sizing import Table
from weighbridge_engines.api import Load


def after_loads(choice: Choice, around: Surroundings, past: Sequence[Observation]) -> Choice:
    """`choice` after what `past` loads here, the newest first, really took. Looks at the model's files."""
    build = build_of(around.told, choice.runner.engine_id) if choice.runner else None
    if choice.fit is None or choice.runner is None or build is None or not past:
        return choice
    now = situation(choice.model, planned_load(choice), choice.runner.engine_id, *build)
    devices = device_places(around.machine, choice.runner.engine_id, choice.places)
    correction = corrected(choice.fit.estimate, now, past, devices)
    if correction.estimate is choice.fit.estimate:
        return replace(choice, last_off=correction.last_off)
    better = judged_by(correction.estimate, choice.fit, choice.places)
    return replace(choice, fit=better, last_off=correction.last_off)


def after_table(choice: Choice, around: Surroundings, table: Table) -> Choice | None:
    """`choice` with the engine's own figures; None where its build's devices are not those that were weighed for."""
    if choice.fit is None:
        return None
    devices = device_places(around.machine, table.engine_id, choice.places)
    better = by_table(table, choice.fit.estimate, choice.places, devices)
    return None if better is None else replace(choice, fit=judged_by(better, choice.fit, choice.places))


def planned_load(choice: Choice) -> Load:
    """The load that was weighed, with the parts named in it that the cards could not hold."""
    if choice.fit is None or choice.blueprint is None or not choice.blueprint.can_be_split:
        return choice.load
    plan = choice.fit.plan
    if plan.engine in RUNTIMES:  # all or nothing of it lies on a card, and its loads name no layers
        return choice.load
    return replace(choice.load, gpu_layers=plan.gpu_layers, cpu_experts=plan.cpu_experts or None)
