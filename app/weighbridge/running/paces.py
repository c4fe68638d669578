"""How fast the places are that an engine's build can put a model in, out of what is known of the machine. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


COPY_SHARE = 0.9
"""Of what a card is sold with, what copying within it reaches: shares of the one are larger shares of the other."""


@dataclass(frozen=True)
class Thread:
    """What one thread of a processor computes in a second, by its widest vectors.

    `parameters` of quantised weights for one token, `scores` of a head for another
    token (whatever the head's width), `tflops` in a prompt.
    """

    parameters: float
    scores: float
    tflops: float


THREADS: Mapping[str, Thread] = {
    "AVX-512F": Thread(12e9, 28e6, 0.045),
    "AVX2": Thread(9e9, 22e6, 0.030),
    "NEON": Thread(6e9, 14e6, 0.015),
}
"""The first that the processor has counts. Measured with AVX-512 (SmolLM2-135M Q4_1, Gemma 3 270M Q4_K_M); the others
are as much less as their vectors are narrower and their cores slower."""


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
    constants = tables.speeds.of(api, generation(device.vendor, device.name, device.compute_capability, tables.cards))
    if bandwidth is None or constants is None:
        return None
    if bandwidth.measured_on is not None:
        constants = replace(
            constants,
            streaming=min(1.0, constants.streaming / COPY_SHARE),
            cache_streaming=min(1.0, constants.cache_streaming / COPY_SHARE),
        )
    tflops = tables.cards.tflops_of(device.name, device.memory.total_bytes, device.gpu_cores)
    return _pace(place, place.name, bandwidth, constants, tflops, tables.speeds)


def _processor(machine: Machine, place: Place, threads: int, speeds: Speeds) -> Pace | None:
    """Few threads compute less than the memory gives."""
    bandwidth = machine.bandwidth
    constants = speeds.of("cpu", MEASURED if bandwidth is not None and bandwidth.measured_on else None)
    if bandwidth is None or constants is None:
        return None
    thread = next((each for name, each in THREADS.items() if name in machine.cpu.extensions), None)
    pace = _pace(
        place, machine.cpu.name or "", bandwidth, constants, None if thread is None else threads * thread.tflops, speeds
    )
    if thread is None:
        return pace
    return replace(pace, parameters_per_s=threads * thread.parameters, scores_per_s=threads * thread.scores)


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
