"""Bandwidth measured on this machine: kept in a small file, and preferred over published figures.

A figure for the system's memory holds for the machine that it was measured on: the same processor, cores and memory.
One for a card holds for that card in its place. Another machine with the same data folder, or this one rebuilt,
measures anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from weighbridge.base.small_files import read_small
from weighbridge.hardware.host import Host, ThisHost
from weighbridge.hardware.machine import Bandwidth, Device, Machine
from weighbridge.hardware.measure import measured_gbs
from weighbridge.hardware.pci import same_slot
from weighbridge.hardware.topology import cache_bytes

FILE = "bandwidth.json"
_GIB = 1 << 30
_MOST_GBS = 100_000.0
_MOST_CARDS = 64
_MAX_BYTES = 1 << 16


def identity(machine: Machine) -> str:
    """What makes it another machine for the speed of its memory."""
    cpu, total = machine.cpu, machine.memory.total_bytes
    gib = "?" if total is None else f"{total / _GIB:.0f}"
    return f"{cpu.name or '?'} / {cpu.usable_cores or '?'} cores / {gib} GiB"


def measure(machine: Machine, host: Host | None = None) -> float | None:
    """Read memory with all cores that this process may use; GB/s, or None where memory is too short. Under 3 s."""
    cpu = machine.cpu
    usable = cpu.usable_cores or 1
    threads = max(1, min(usable, cpu.physical_cores or usable))
    return measured_gbs(threads, cache_bytes(host or ThisHost()), machine.memory.available_bytes)


def card_key(device: Device) -> str:
    """What makes it another card: its place and its name; slices of one card differ by name alone."""
    return f"{same_slot(device.pci_id) or device.id} {device.name}"


@dataclass(frozen=True)
class Measured:
    """What was measured here: the system memory's bandwidth, and that of cards by `card_key`."""

    memory: Bandwidth | None = None
    cards: Mapping[str, Bandwidth] = field(default_factory=dict)

    def applied(self, machine: Machine) -> Machine:
        """The machine with what was measured on it in place of what is published."""
        devices = tuple(
            replace(device, bandwidth=self.cards.get(card_key(device), device.bandwidth)) for device in machine.devices
        )
        return replace(machine, bandwidth=self.memory or machine.bandwidth, devices=devices)


@dataclass(frozen=True)
class Measurements:
    """The file of measurements in the data folder."""

    file: Path

    @classmethod
    def within(cls, data: Path) -> Measurements:
        """Those of a data folder."""
        return cls(data / FILE)

    def apply(self, machine: Machine) -> Machine:
        """The machine with what was measured on it, where anything was."""
        return self.of(machine).applied(machine)

    def of(self, machine: Machine) -> Measured:
        """What was measured on `machine`. Where somebody else has made of the file what it cannot be, nothing was."""
        values = self._read()
        cards = {
            name: _bandwidth(entry, "gbs") for name, entry in list(_table(values.get("cards")).items())[:_MOST_CARDS]
        }
        memory = _bandwidth(values, "memory_gbs") if values.get("machine") == identity(machine) else None
        return Measured(memory, {name: known for name, known in cards.items() if known is not None})

    def keep(self, machine: Machine, gbs: float, day: date, cards_gbs: Mapping[str, float] | None = None) -> Measured:
        """Write what was measured, GB/s, of cards by their ids; those not measured now keep their figures.

        Returns what is known now. Raises OSError where it cannot be written.
        """
        today, before = day.isoformat(), self.of(machine).cards
        now = {card_key(device): (cards_gbs or {}).get(device.id) for device in machine.devices}
        fresh = {name: Bandwidth(speed, speed, "", today) for name, speed in now.items() if speed is not None}
        known = Measured(Bandwidth(gbs, gbs, "", today), {**before, **fresh})
        cards = {name: {"gbs": each.low_gbs, "measured_on": each.measured_on} for name, each in known.cards.items()}
        self._write({"machine": identity(machine), "memory_gbs": gbs, "measured_on": today, "cards": cards})
        return known

    def _write(self, values: Mapping[str, Any]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        beside = self.file.with_suffix(".new")
        beside.write_text(json.dumps(values), encoding="utf-8")
        beside.replace(self.file)

    def _read(self) -> Mapping[str, Any]:
        try:
            return _table(json.loads(read_small(self.file, _MAX_BYTES)))
        except (OSError, ValueError, RecursionError):
            return {}


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _bandwidth(entry: object, name: str) -> Bandwidth | None:
    """The figure called `name` with its day, or None where it cannot be one."""
    values = _table(entry)
    gbs = values.get(name)
    if isinstance(gbs, bool) or not isinstance(gbs, int | float) or not 0 < gbs < _MOST_GBS:
        return None
    try:
        day = date.fromisoformat(values["measured_on"]).isoformat()
    except (ValueError, TypeError, KeyError):
        return None
    return Bandwidth(float(gbs), float(gbs), "", day)
