"""This machine as a model is weighed against it: looked at once for a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from weighbridge.base.paths import default_paths
from weighbridge_engines.api import Engine

if TYPE_CHECKING:
    from weighbridge.choices.choice import Surroundings


def surroundings(engines: Mapping[str, Engine]) -> Surroundings:
    """The machine, what each installed engine can use of it, and nothing loaded by this program."""
    from weighbridge.choices.choice import Surroundings
    from weighbridge.hardware.bandwidth import load_table
    from weighbridge.hardware.detect import detect
    from weighbridge.hardware.merge import with_engines
    from weighbridge.running.devices import EngineDevices, by_engine

    machine = detect()
    told = EngineDevices(engines, default_paths().data).told(machine)
    return Surroundings(with_engines(machine, by_engine(told), load_table()), engines, told)
