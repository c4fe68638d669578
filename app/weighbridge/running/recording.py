"""Keeping what loads really took: the recorder over this machine's parts."""

from __future__ import annotations

from functools import cached_property

from weighbridge.base.database import Database
from weighbridge.estimates.estimate import Estimate
from weighbridge.estimates.memory import estimate
from weighbridge.hardware.detect import detect
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.devices import EngineDevices, Told, with_engines_here
from weighbridge.running.observations import Observations, Recorder, build_of
from weighbridge.running.places import places_for
from weighbridge.running.plans import plan_of
from weighbridge.running.scales import BlueprintOf
from weighbridge.running.state import Running


def machine_recorder(database: Database, blueprint_of: BlueprintOf, devices: EngineDevices) -> Recorder:
    """A recorder that knows this machine. It looks at it, and asks the engines, on its own thread and once."""
    here = _Here(blueprint_of, devices)
    return Recorder(Observations(database), here.estimate, here.build)


class _Here:
    """What a record needs beside the load. Used by the recorder's one thread alone."""

    def __init__(self, blueprint_of: BlueprintOf, devices: EngineDevices) -> None:
        self._blueprint_of = blueprint_of
        self._devices = devices

    @cached_property
    def _seen(self) -> tuple[Machine, tuple[Told, ...]]:
        """The machine, and what its engines told."""
        return with_engines_here(detect(), self._devices)

    def build(self, engine_id: str) -> tuple[str | None, tuple[str, ...]] | None:
        """The engine's version and the names of its devices."""
        return build_of(self._seen[1], engine_id)

    def estimate(self, model: Model, running: Running) -> Estimate | None:
        """What had been calculated for the load, by the engine that runs it; None where nothing is known of it."""
        blueprint = self._blueprint_of(model)
        if blueprint is None:
            return None
        plan = plan_of(running.load, running.engine_id)
        return estimate(blueprint, plan, places_for(self._seen[0], running.engine_id))
