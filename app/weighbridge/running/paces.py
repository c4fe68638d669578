"""How fast the places are that an engine's build can put a model in, out of what is known of the machine. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from weighbridge.estimates.estimate import Place, PlaceKind
from weighbridge.estimates.speed.constants import Constants, load_constants
from weighbridge.estimates.speed.constants import Table as Speeds
from weighbridge.estimates.speed.pace import Pace
from weighbridge.hardware.bandwidth import Table as Cards
from weighbridge.hardware.bandwidth import load_table
from weighbridge.hardware.generations import generation
from weighbridge.hardware.machine import Bandwidth, Device, Machine

_ENGINE_APIS = {"mlx": "mlx", "exllamav2": "exl", "exllamav3": "exl"}
"""Engines whose kernels are their own, whatever reaches the card."""

MEASURED = "measured"
"""The generation of a processor whose memory was measured here: what a program really reads, not what it is sold as."""

THREAD_GBS = 9.0
"""Quantised weights that one thread of a processor with wide vectors takes in, in GB/s: measured here with Q4_1."""

THREAD_TFLOPS = {"AVX-512F": 0.045, "AVX2": 0.030, "NEON": 0.015}
"""What one thread reaches in a prompt, by the widest vectors it has; the first that is there counts."""


@dataclass(frozen=True)
class SpeedTables:
    """What ships with the program: constants of kinds of devices, and what is published of cards."""

    speeds: Speeds
    cards: Cards


def speed_tables() -> SpeedTables:
    """Those of this version."""
    return SpeedTables(load_constants(), load_table())


def paces_for(
    machine: Machine, engine_id: str, places: Iterable[Place], threads: int | None, tables: SpeedTables
) -> dict[str, Pace]:
    """How fast each of `places` is for `engine_id`; those whose bandwidth is not known are left out.

    `threads` is what the engine may use of the processor; None: all cores but one.
    """
    paces: dict[str, Pace] = {}
    for place in places:
        device = _device(machine, place)
        if device is not None:
            pace = _card(machine, device, place, _ENGINE_APIS.get(engine_id, place.api), tables)
        else:
            pace = _processor(machine, place, threads or max(1, (machine.cpu.usable_cores or 2) - 1), tables.speeds)
        if pace is not None:
            paces[place.id] = pace
    return paces


def _device(machine: Machine, place: Place) -> Device | None:
    """What computes in a place; None for the processor. Memory that is one for both bears its device's name alone."""
    if place.kind is PlaceKind.HOST:
        return None
    return next((device for device in machine.devices if device.id == place.id or device.name == place.name), None)


def _card(machine: Machine, device: Device, place: Place, api: str, tables: SpeedTables) -> Pace | None:
    bandwidth = device.bandwidth or (machine.bandwidth if place.kind is PlaceKind.UNIFIED else None)
    constants = tables.speeds.of(api, generation(device.vendor, device.name, device.compute_capability))
    if bandwidth is None or constants is None:
        return None
    tflops = tables.cards.tflops_of(device.name, device.memory.total_bytes)
    return _pace(place, place.name, bandwidth, constants, tflops, tables.speeds)


def _processor(machine: Machine, place: Place, threads: int, speeds: Speeds) -> Pace | None:
    """Few threads take in less than the memory gives."""
    bandwidth = machine.bandwidth
    constants = speeds.of("cpu", MEASURED if bandwidth is not None and bandwidth.measured_on else None)
    if bandwidth is None or constants is None:
        return None
    most = threads * THREAD_GBS / constants.streaming
    reached = replace(bandwidth, low_gbs=min(bandwidth.low_gbs, most), high_gbs=min(bandwidth.high_gbs, most))
    each = next((rate for name, rate in THREAD_TFLOPS.items() if name in machine.cpu.extensions), None)
    tflops = None if each is None else each * threads
    return _pace(place, machine.cpu.name or "", reached, constants, tflops, speeds)


def _pace(
    place: Place, name: str, bandwidth: Bandwidth, constants: Constants, tflops: float | None, speeds: Speeds
) -> Pace:
    return Pace(
        place=place.id,
        name=name,
        low_gbs=bandwidth.low_gbs,
        high_gbs=bandwidth.high_gbs,
        constants=constants,
        tflops=tflops,
        slow_types=speeds.slow_types(constants.api),
        measured=bandwidth.measured_on is not None,
    )
