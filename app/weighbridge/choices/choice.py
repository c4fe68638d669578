"""A model weighed against this machine as things stand. Pure: what is free and what is installed are handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from weighbridge.base.errors import Refused
from weighbridge.choices.runner import ONLY_ON, Runner, runner_for
from weighbridge.choices.setting_words import setting_name
from weighbridge.estimates.beside import Beside, fit_beside
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Place
from weighbridge.estimates.fit import GOOD, Fit, Verdict, fit
from weighbridge.estimates.plan import ELEMENT_BYTES, Plan, element_bytes
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.formats.architectures import Kind
from weighbridge.hardware.machine import Device, Machine, MemoryKind
from weighbridge.library.model import Model
from weighbridge.running.devices import Told, missing_build
from weighbridge.running.places import given_back, places_for, places_with
from weighbridge.running.plans import plan_of
from weighbridge.running.shares import on_processor
from weighbridge.running.state import Running
from weighbridge_engines.api import Cause, Engine, Load

NOT_RUN = (Kind.ADAPTER, Kind.AUDIO, Kind.IMAGE, Kind.IMATRIX, Kind.PROJECTION, Kind.VOCABULARY)
"""Kinds that no engine of text runs by themselves, whatever their format."""


@dataclass(frozen=True)
class Surroundings:
    """What models are weighed against: the machine with what each engine told, the engines, and what is loaded."""

    machine: Machine
    engines: Mapping[str, Engine]
    told: Sequence[Told] = ()
    running: Sequence[Running] = ()

    @cached_property
    def given_back_bytes(self) -> int:
        """What models that nobody uses would give back."""
        return given_back(self.running)

    def places(self, engine_id: str) -> tuple[Place, ...]:
        """Where the installed build of `engine_id` can put a model."""
        if engine_id not in self._places:
            self._places[engine_id] = places_for(self.machine, engine_id, self.given_back_bytes)
        return self._places[engine_id]

    @cached_property
    def _places(self) -> dict[str, tuple[Place, ...]]:
        return {}

    def if_unused(self, model_id: str) -> Surroundings:
        """The same, for weighing a model that may be loaded itself: it would give back what it holds first."""
        if all(one.model_id != model_id for one in self.running):
            return self
        running = [replace(one, in_flight=0, pinned=False) if one.model_id == model_id else one for one in self.running]
        return replace(self, running=running)


@dataclass(frozen=True)
class Elsewhere:
    """How a model would stand on a card that nothing installed here can use, and what is missing for it."""

    device: Device
    fit: Fit
    missing: Cause


@dataclass(frozen=True)
class Choice:
    """One weighed model. `fit` is None where the file is damaged or says nothing, or where nobody knows how large the
    cache of the load is; `runner` where nobody runs it.

    They are two fields: a model may fit that nothing here can run. Of the kinds in NOT_RUN there is neither. `load` is
    what was weighed, `places` where. `last_off` is by how much the last load like it took more than was estimated, as a
    share; None where there was none. `speeds` is None where they were not asked for: see `speeds.Speedometer`.
    """

    model: Model
    blueprint: Blueprint | None
    runner: Runner | None
    fit: Fit | None
    load: Load
    places: tuple[Place, ...] = ()
    elsewhere: Elsewhere | None = None
    last_off: float | None = None
    speeds: Speeds | None = None


def weigh(
    model: Model,
    blueprint: Blueprint | None,
    load: Load,
    around: Surroundings,
    *,
    engine_id: str | None = None,
    beside: Beside | None = None,
    with_remedy: bool = False,
) -> Choice:
    """`model` as `load` would load it, in what is free now and what unused models would give back.

    `engine_id`: by this engine, not by the one that would be taken. `beside`: with what is to be loaded beside it.
    Raises Refused where the engine does not run the format, or knows no such type of a KV cache.
    """
    engines = around.engines.values()
    runner = None if model.kind in NOT_RUN else runner_for(model.format, engines, engine_id, model, around.machine)
    if blueprint is None or runner is None or model.problem is not None:
        return Choice(model, blueprint, runner, None, load)
    engine = around.engines.get(runner.engine_id)
    told = load if engine is None else on_processor(engine, load, around.machine)
    plan = plan_of(told, runner.engine_id)
    if model.format == "gguf":
        _check_types(plan)
    elif element_bytes(plan.key_type) is None or element_bytes(plan.value_type) is None:
        return Choice(model, blueprint, runner, None, load)
    places = around.places(runner.engine_id)
    here = fit_beside(blueprint, plan, places, beside or Beside(), with_remedy=with_remedy)
    elsewhere = _elsewhere(blueprint, plan_of(replace(load, batch=None), runner.engine_id), around)
    return Choice(model, blueprint, runner, here, load, places, elsewhere)


def _check_types(plan: Plan) -> None:
    """Raise Refused where llama.cpp has no such type of a KV cache. Other engines take what is nearest."""
    for name, kind in (("key_type", plan.key_type), ("value_type", plan.value_type)):
        if kind not in ELEMENT_BYTES:
            known = ", ".join(ELEMENT_BYTES)
            raise Refused("setting.choice", name=setting_name(name), value=kind[:60], known=known)


def _elsewhere(blueprint: Blueprint, plan: Plan, around: Surroundings) -> Elsewhere | None:
    """The best card that no installed engine uses, where there is one that would hold something of the model."""
    unused = _unused_cards(around.machine.devices, around.told, plan.engine)
    weighed = [
        (device, missing, fit(blueprint, plan, places_with(around.machine, [device], around.given_back_bytes)))
        for device, missing in unused
    ]
    better = [each for each in weighed if each[2].verdict in GOOD and each[2].gpu_layers]
    if not better:
        return None
    device, missing, best = min(better, key=lambda each: list(Verdict).index(each[2].verdict))
    return Elsewhere(device, best, missing)


def _unused_cards(devices: Iterable[Device], told: Sequence[Told], engine_id: str) -> list[tuple[Device, Cause]]:
    vendors = ONLY_ON.get(engine_id)
    cards: list[tuple[Device, Cause]] = []
    for device in devices:
        missing = missing_build(device, told, engine_id)
        suits = vendors is None or device.vendor in vendors
        if missing is not None and suits and device.memory.kind is MemoryKind.DEDICATED:
            cards.append((device, missing))
    return cards
