"""Kinds of system memory that can be bought, and how fast they are as published."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from weighbridge.hardware.machine import Bandwidth
from weighbridge_resources import path


@dataclass(frozen=True)
class MemoryType:
    """One kind, with its channels: "DDR5-5600 dual channel"."""

    name: str
    bandwidth: Bandwidth


def load_memory_types(file: Path | None = None) -> tuple[MemoryType, ...]:
    """Those of the table that ships, or of another of the same form, that are put into sockets; the slowest first.

    What is soldered to a board is no choice, and stands there under other names.
    """
    with (file or path("hardware.csv")).open(encoding="utf-8", newline="") as lines:
        rows = [fields for fields in csv.DictReader(lines) if fields["vendor"] == "CPU"]
    known = [_memory_type(fields) for fields in rows if fields["name"].startswith("DDR")]
    return tuple(sorted(known, key=lambda one: one.bandwidth.low_gbs))


def _memory_type(fields: dict[str, str]) -> MemoryType:
    gbs = float(fields["bandwidth_gbs"])
    return MemoryType(fields["name"], Bandwidth(gbs, gbs, fields["source"]))
