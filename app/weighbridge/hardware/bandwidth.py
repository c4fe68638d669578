"""Published memory bandwidth, from a table, by the name that a driver gives a card.

Names are compared whole, but for letter case and a leading "NVIDIA": a laptop card never takes the figure of the
desktop card in its name. Where one name stands for several products, its memory may tell them apart; else the figure is
the range of all of them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from weighbridge.hardware.machine import Bandwidth
from weighbridge_resources import path

GIB = 1 << 30
_LEAST_SHARE, _MOST_SHARE = 0.88, 1.03
"""A driver tells less than a card is sold with: error correction takes up to a sixteenth, firmware some more."""


@dataclass(frozen=True)
class Row:
    """One product."""

    driver_name: str
    memory_gib: float | None
    bandwidth_gbs: float
    source: str


class Table:
    """The products with a known driver name and bandwidth."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[str, list[Row]] = {}
        for row in rows:
            self._rows.setdefault(_key(row.driver_name), []).append(row)

    def of(self, driver_name: str, memory_bytes: int | None = None) -> Bandwidth | None:
        """The bandwidth of the card that the driver calls so, or None where the table does not know it."""
        rows = self._rows.get(_key(driver_name), [])
        fitting = [row for row in rows if _fits(row, memory_bytes)] or rows
        if not fitting:
            return None
        figures = [row.bandwidth_gbs for row in fitting]
        return Bandwidth(min(figures), max(figures), fitting[0].source)


def load_table(file: Path | None = None) -> Table:
    """The table that ships with the program, or another file of the same form."""
    with (file or path("hardware.csv")).open(encoding="utf-8", newline="") as lines:
        return Table(
            _row(fields) for fields in csv.DictReader(lines) if fields["driver_name"] and fields["bandwidth_gbs"]
        )


def _row(fields: dict[str, str]) -> Row:
    memory = fields["memory_gib"]
    return Row(
        fields["driver_name"], float(memory) if memory else None, float(fields["bandwidth_gbs"]), fields["source"]
    )


def _key(name: str) -> str:
    return " ".join(name.casefold().removeprefix("nvidia ").split())


def _fits(row: Row, memory_bytes: int | None) -> bool:
    if memory_bytes is None or row.memory_gib is None:
        return True
    return _LEAST_SHARE <= memory_bytes / (row.memory_gib * GIB) <= _MOST_SHARE
