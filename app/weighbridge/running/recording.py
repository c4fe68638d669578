"""Keeping what loads really took and how fast answers were: the recorders over this machine's parts."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property

from weighbridge.base.database import Database
from weighbridge.estimates.estimate import Estimate
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.speed.speeds import speeds
from weighbridge.hardware.detect import detect
from weighbridge.hardware.machine import Machine
from weighbridge.hardware.measured import Measurements
from weighbridge.library.full_headers import has_table, read_in_full
from weighbridge.library.marks import Marks
from weighbridge.library.model import Model
from weighbridge.library.rows import in_full
from weighbridge.running.devices import EngineDevices, Told, with_engines_here
from weighbridge.running.observations import Observations, Recorder, build_of
from weighbridge.running.paces import SpeedTables, paces_for, speed_tables
from weighbridge.running.places import places_for
from weighbridge.running.plans import plan_of
from weighbridge.running.scales import BlueprintOf
from weighbridge.running.speed_observations import SpeedObservations, bandwidths_of
from weighbridge.running.speed_recording import Calculated, SpeedRecorder
from weighbridge.running.state import Running
from weighbridge.running.uses import UseRecorder
from weighbridge_engines.api import Load


@dataclass(frozen=True)
class Recorders:
    """Who keeps what loads took, how fast answers were, and when models were last used. `close` must be called."""

    loads: Recorder
    speeds: SpeedRecorder
    uses: UseRecorder

    def close(self) -> None:
        """Finish what has begun."""
        self.loads.close()
        self.speeds.close()
        self.uses.close()


def machine_recorders(
    database: Database, marks: Marks, blueprint_of: BlueprintOf, devices: EngineDevices, measurements: Measurements
) -> Recorders:
    """Recorders that know this machine. They look at it, and ask the engines, on their own threads and once."""
    here = _Here(blueprint_of, devices, measurements)
    loads = Recorder(Observations(database), here.estimate, here.build)
    return Recorders(loads, SpeedRecorder(SpeedObservations(database), here.calculate, here.build), UseRecorder(marks))


class _Here:
    """What a record needs beside the load or the answer. Used by the threads of both recorders."""

    def __init__(self, blueprint_of: BlueprintOf, devices: EngineDevices, measurements: Measurements) -> None:
        self._blueprint_of = blueprint_of
        self._devices = devices
        self._measurements = measurements
        self._one = threading.Lock()
        self._seen_once: tuple[Machine, tuple[Told, ...]] | None = None
        self._builds: tuple[str, ...] = ()

    @property
    def _seen(self) -> tuple[Machine, tuple[Told, ...]]:
        """The machine, and what its engines told, as the builds that are in use."""
        with self._one:
            builds = self._devices.builds
            if self._seen_once is None or self._builds != builds:
                self._builds = builds
                self._seen_once = with_engines_here(detect(), self._devices)
            return self._seen_once

    @cached_property
    def _tables(self) -> SpeedTables:
        return speed_tables()

    def build(self, running: Running) -> tuple[str | None, tuple[str, ...]] | None:
        """The engine's version and the names of its devices; None where another build of it has come into use."""
        told = self._seen[1]
        in_use = (running.build or running.engine_id) in self._builds
        return build_of(told, running.engine_id) if in_use else None

    def estimate(self, model: Model, running: Running) -> Estimate | None:
        """What had been calculated for the load, by the engine that runs it; None where nothing is known of it."""
        blueprint = self._blueprint_of(model)
        if blueprint is None:
            return None
        plan = plan_of(_as_told(running), running.engine_id)
        return estimate(blueprint, plan, places_for(self._seen[0], running.engine_id))

    def calculate(self, model: Model, running: Running, depth: int, prompt: int) -> Calculated:
        """How fast the answer should have been, with what is measured of the machine by now."""
        machine, load, engine_id = self._measurements.apply(self._seen[0]), running.load, running.engine_id
        bandwidths, blueprint = bandwidths_of(machine, engine_id), self._blueprint_of(_in_full(model))
        if blueprint is None:
            return Calculated(bandwidths)
        places = places_for(machine, engine_id)
        paces = paces_for(machine, engine_id, places, load.threads, self._tables)
        mixed = any(layer.expert_bytes for layer in blueprint.weights.layers)
        known = speeds(blueprint, plan_of(load, engine_id), places, paces, depth=depth, prompt=prompt)
        return Calculated(bandwidths, mixed, known)


def _as_told(running: Running) -> Load:
    """Its load, with the type of floats that it says it uses."""
    told = next((one.effective for one in running.settings if one.name == "dtype"), None)
    return running.load if told is None else replace(running.load, extra={**running.load.extra, "dtype": told})


def _in_full(model: Model) -> Model:
    """The model with its full header, by which speeds are shown: a brief one does not tell how large its matrices are.

    Raises BadFile.
    """
    known = model.info is None or model.info.full or not has_table(model)
    return model if known else in_full(model, read_in_full(model))
