"""This machine as a model is weighed against it: looked at once for a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from weighbridge.base.paths import default_paths
from weighbridge_engines.api import Engine

if TYPE_CHECKING:
    from weighbridge.choices.choice import Surroundings
    from weighbridge.hardware.machine import Machine


def surroundings(engines: Mapping[str, Engine]) -> Surroundings:
    """The machine with what was measured of it, what each installed engine can use, and nothing loaded by this
    program.
    """
    from weighbridge.choices.choice import Surroundings
    from weighbridge.hardware.detect import detect
    from weighbridge.hardware.measured import Measurements
    from weighbridge.running.devices import EngineDevices, with_engines_here

    data = default_paths().data
    machine, told = with_engines_here(detect(), EngineDevices(engines, data))
    return Surroundings(Measurements.within(data).apply(machine), engines, told)


def seen_machine(engines: Mapping[str, Engine]) -> Machine:
    """The machine with what each installed engine can use of it. They are asked only where there is something to use,
    which costs about a second the first time.
    """
    from weighbridge.hardware.detect import detect
    from weighbridge.running.devices import EngineDevices, with_engines_here

    machine = detect()
    if not machine.devices:
        return machine
    return with_engines_here(machine, EngineDevices(engines, default_paths().data))[0]
