"""What the live graphs show, as data: one track a figure, its bands stacked on each other. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.base.units import GIB, THIN, number
from weighbridge.base.words import text
from weighbridge.hardware.machine import Device, Machine
from weighbridge.ui.memory_parts import Memory

SPAN_S = 60.0
"""How much of the past is shown."""
_HOTTEST_C = 110.0
_LEAST_TOP_W = 50.0
_OURS = ("weights", "compute", "state", "kv", "engine")


@dataclass(frozen=True)
class Band:
    """One value of a track: whose it is, and the token of its colour. `word` names a share of a whole."""

    key: str
    colour: str
    value: float
    word: str = ""


@dataclass(frozen=True)
class Track:
    """A figure now. `figure` is it in words; `top` is the value at the upper edge. No bands: it is unknown now."""

    key: str
    title: str
    figure: str
    top: float
    bands: tuple[Band, ...]


def tracks(machine: Machine, cpu_load: float | None, memories: Sequence[Memory]) -> list[Track]:
    """The processor, each memory, and of each card what it tells."""
    found = [_single("cpu", text("Processor load"), _percent(cpu_load), 1.0, cpu_load)]
    found += [_memory(memory, place) for place, memory in enumerate(memories)]
    for device in machine.devices:
        found += _sensors(device)
    return found


def _single(key: str, title: str, figure: str, top: float, value: float | None) -> Track:
    return Track(key, title, figure, top, () if value is None else (Band(key, "accent", value),))


def _memory(memory: Memory, place: int) -> Track:
    sums: dict[str, int] = {}
    for part in memory.parts:
        sums[part.owner] = sums.get(part.owner, 0) + part.size_bytes
    bands = [Band("", "others", sums.pop(""), text("Everything else"))] if "" in sums else []
    for index, owner in enumerate(sums):  # in the order of their loads, so that a colour stays with its model
        bands.append(Band(owner, _OURS[index % len(_OURS)], sums[owner], owner))
    used, total = number(memory.used_bytes / GIB, 1), f"{number(memory.total_bytes / GIB, 1)}{THIN}GiB"
    figure = text("{used} of {total} in use", used=used, total=total)
    return Track(f"memory {place}", memory.name, figure, memory.total_bytes, tuple(bands))


def _sensors(device: Device) -> list[Track]:
    """Only what the card tells now or told in time: a card without sensors has no tracks."""
    now, found = device.sensors, []
    if now.load is not None:
        title = text("{device}: load", device=device.name)
        found.append(_single(f"{device.id} load", title, _percent(now.load), 1.0, now.load))
    if now.temperature_c is not None:
        title = text("{device}: temperature", device=device.name)
        shown = f"{number(now.temperature_c)}{THIN}°C"
        found.append(_single(f"{device.id} temperature", title, shown, _HOTTEST_C, now.temperature_c))
    if now.power_w is not None:
        title = text("{device}: power", device=device.name)
        top = now.power_limit_w or max(_LEAST_TOP_W, now.power_w)
        shown = f"{number(now.power_w)}{THIN}W"
        if now.power_limit_w is not None:
            shown = text("{now} of {limit} W", now=number(now.power_w), limit=number(now.power_limit_w))
        found.append(_single(f"{device.id} power", title, shown, top, now.power_w))
    return found


def _percent(share: float | None) -> str:
    return text("unknown") if share is None else f"{number(100 * share)}{THIN}%"
