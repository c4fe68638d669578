"""How fast the memory of cards is, measured on request by those engines that can (`Engine.bandwidth`)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weighbridge.hardware.machine import Device, Machine
from weighbridge.running.questions import LIMIT_S, Ask, ask_worker, last_line, why
from weighbridge_engines.api import Cause, Engine

_GB = 1e9


@dataclass(frozen=True)
class CardSpeeds:
    """GB/s (1e9 bytes a second) by the id of each device that was measured; why engines could not measure."""

    gbs: Mapping[str, float]
    problems: tuple[Cause, ...] = ()


def measure_cards(machine: Machine, engines: Iterable[Engine], ask_child: Ask | None = None) -> CardSpeeds:
    """Ask each engine that can measure and that can use a device of `machine`, one after the other.

    Where several measured one device the fastest counts, for none reads faster than the memory is.
    """
    gbs: dict[str, float] = {}
    problems: list[Cause] = []
    for engine in engines:
        seen = {sight.id: device for device in machine.devices for sight in device.seen_by if sight.engine == engine.id}
        if engine.bandwidth is None or not seen or engine.missing() is not None:
            continue
        told = _told(engine, ask_child)
        if isinstance(told, Cause):
            problems.append(told)
        else:
            _take(gbs, seen, told)
    return CardSpeeds(gbs, tuple(problems))


def read_bandwidth(text: str) -> dict[str, float] | None:
    """Bytes per second by device in the last line of `text`; None where that is not what a worker prints."""
    try:
        told = json.loads(last_line(text))["bandwidth"].items()
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return {str(name): float(speed) for name, speed in told if _is_speed(speed)}


def _is_speed(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def _take(gbs: dict[str, float], seen: Mapping[str, Device], told: Mapping[str, float]) -> None:
    for name, speed in told.items():
        if name in seen:
            device = seen[name]
            gbs[device.id] = max(gbs.get(device.id, 0.0), speed / _GB)


def _told(engine: Engine, ask_child: Ask | None) -> dict[str, float] | Cause:
    try:
        answer = ask_worker(engine, "--bandwidth", ask_child)
    except OSError as error:
        return Cause("engine.bandwidth_failed", {"engine": engine.title, "reason": error.strerror or str(error)})
    if answer.exit_code is None:
        return Cause("engine.bandwidth_slow", {"engine": engine.title, "limit_s": int(LIMIT_S)})
    told = read_bandwidth(answer.out)
    if told is None or answer.exit_code != 0:
        return Cause("engine.bandwidth_failed", {"engine": engine.title, "reason": why(answer)})
    return told
