"""Bandwidth measured on this machine: kept in a small file, and preferred over published figures.

A figure holds for the machine that it was measured on: the same processor, cores and memory. Another machine with the
same data folder, or this one rebuilt, measures anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from weighbridge.hardware.host import Host, ThisHost
from weighbridge.hardware.machine import Bandwidth, Machine
from weighbridge.hardware.measure import measured_gbs
from weighbridge.hardware.topology import cache_bytes

FILE = "bandwidth.json"
_GIB = 1 << 30
_MOST_GBS = 100_000.0
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
        found = self._read()
        if found is None or found[0] != identity(machine):
            return machine
        _, gbs, day = found
        return replace(machine, bandwidth=Bandwidth(gbs, gbs, "", measured_on=day))

    def keep(self, machine: Machine, gbs: float, day: date) -> None:
        """Write a measurement. Raises OSError where it cannot be written."""
        values = {"machine": identity(machine), "memory_gbs": gbs, "measured_on": day.isoformat()}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        beside = self.file.with_suffix(".new")
        beside.write_text(json.dumps(values), encoding="utf-8")
        beside.replace(self.file)

    def _read(self) -> tuple[str, float, str] | None:
        """None where there is no file, or one that somebody else has changed into something that it cannot be."""
        try:
            with self.file.open(encoding="utf-8") as file:
                values = json.loads(file.read(_MAX_BYTES))
            gbs, day = values["memory_gbs"], date.fromisoformat(values["measured_on"])
            name = str(values["machine"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if isinstance(gbs, bool) or not isinstance(gbs, int | float) or not 0 < gbs < _MOST_GBS:
            return None
        return name, float(gbs), day.isoformat()
