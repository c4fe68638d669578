"""Constants in round figures, and a machine whose memory was measured, for tests of what is told of speeds."""

from __future__ import annotations

from dataclasses import replace

from tests.choices.made_surroundings import LOAD, RTX, around, machine, model
from tests.estimates.made_blueprints import GIB, made
from tests.estimates.speed.made_paces import ROUND

from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.estimates.speed.constants import Table
from weighbridge.estimates.use import Use
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.machine import Bandwidth, Cpu, Device
from weighbridge.running.paces import SpeedTables

MEASURED = Bandwidth(100.0, 100.0, "", "2026-11-30")
CPU = replace(ROUND, api="cpu", generation="measured", streaming=0.5, layer_us=1000.0, rows=3, source="runs of a test")
CARD = replace(ROUND, generation="ada", streaming=0.8, rows=0)
TABLES = SpeedTables(
    Table(
        {("cpu", "measured"): CPU, ("cpu", ""): CPU, ("cuda", ""): CARD, ("rocm", ""): CARD, ("vulkan", ""): CARD}, {}
    ),
    load_table(),
)
FAST_RTX = replace(
    RTX, name="NVIDIA GeForce RTX 3090", bandwidth=Bandwidth(1000.0, 1000.0, "its maker"), compute_capability="8.9"
)
TENTH = replace(made(layers=10, layer_bytes=GIB // 10), use=Use(active_parameters=10**9))
"""A model that reads 2 GiB a token: a tenth of one in each of ten layers, and one of output."""


def here(*devices: Device, bandwidth: Bandwidth | None = MEASURED, **rest) -> Surroundings:
    made_here = machine(*devices, **rest)
    return around(machine=replace(made_here, bandwidth=bandwidth, cpu=Cpu("A Processor", 8, 16, 16)))


def weighed(surroundings: Surroundings, blueprint=TENTH, load=LOAD, **changes) -> Choice:
    return weigh(model(**changes), blueprint, load, surroundings)
