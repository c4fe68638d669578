"""Published facts of cards, from a table: memory bandwidth by the name that a driver gives, and names by PCI number.

Names are compared whole, but for letter case, the maker in front, trade marks, and a chip's code name in brackets: a
laptop card never takes the figure of the desktop card in its name. Where one name stands for several products, its
memory may tell them apart; else the figure is the range of all of them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from weighbridge.hardware.machine import Bandwidth
from weighbridge_resources import path

GIB = 1 << 30
_LEAST_SHARE, _MOST_SHARE = 0.88, 1.03
"""A driver tells less than a card is sold with: error correction takes up to a sixteenth, firmware some more."""

_MARKS = re.compile(r"\((?:r|tm)\)|®|™")
_CODE_NAME = re.compile(r"\s*\((?!\d+-core)[^()]*\)$")
_CORES = re.compile(r"\s*\(\d+-core gpu\)$")
_MAKERS = ("nvidia ", "amd ", "intel ")


@dataclass(frozen=True)
class Row:
    """One product, as a driver names it. `high_gbs` is there where its memory may be of several speeds."""

    driver_name: str
    memory_gib: float | None
    bandwidth_gbs: float
    source: str
    high_gbs: float | None = None
    pci_ids: tuple[str, ...] = ()


class Table:
    """The products with a known driver name and bandwidth."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[str, list[Row]] = {}
        self._numbers: dict[str, list[Row]] = {}
        for row in rows:
            for key in _keys(row):
                self._rows.setdefault(key, []).append(row)
            for number in row.pci_ids:
                self._numbers.setdefault(number, []).append(row)

    def of(self, driver_name: str, memory_bytes: int | None = None) -> Bandwidth | None:
        """The bandwidth of the card that the driver calls so, or None where the table does not know it."""
        rows = self._rows.get(plain_name(driver_name), [])
        fitting = [row for row in rows if _fits(row, memory_bytes)] or rows
        if not fitting:
            return None
        highest = max(row.high_gbs or row.bandwidth_gbs for row in fitting)
        return Bandwidth(min(row.bandwidth_gbs for row in fitting), highest, fitting[0].source)

    def name_of(self, vendor: int, device: int, revision: int | None) -> str | None:
        """The product with these PCI numbers: by device and revision, or by device where that is enough."""
        rows = self._numbers.get(f"{vendor:04x}:{device:04x}:{revision or 0:02x}")
        rows = rows or self._numbers.get(f"{vendor:04x}:{device:04x}")
        return rows[0].driver_name.partition(";")[0] if rows else None

    def sizes_of(self, vendor: int, device: int) -> list[int]:
        """The memory sizes in bytes with which the product is sold."""
        rows = self._numbers.get(f"{vendor:04x}:{device:04x}", [])
        return sorted({int(row.memory_gib * GIB) for row in rows if row.memory_gib is not None})


def load_table(file: Path | None = None) -> Table:
    """The table that ships with the program, or another file of the same form."""
    with (file or path("hardware.csv")).open(encoding="utf-8", newline="") as lines:
        return Table(
            _row(fields) for fields in csv.DictReader(lines) if fields["driver_name"] and fields["bandwidth_gbs"]
        )


def plain_name(name: str) -> str:
    """A driver's name for a card without what differs from driver to driver, to compare names by."""
    plain = " ".join(_MARKS.sub(" ", name.casefold()).split())
    plain = _CODE_NAME.sub("", plain)
    for maker in _MAKERS:
        plain = plain.removeprefix(maker)
    return plain.removesuffix(" graphics")


def _keys(row: Row) -> set[str]:
    """The names of a row; a chip that is sold with more or fewer cores also goes by its name without their count."""
    names = {plain_name(name) for name in row.driver_name.split(";")}
    return names | {_CORES.sub("", name) for name in names}


def _row(fields: dict[str, str]) -> Row:
    memory = fields["memory_gib"]
    low, _, high = fields["bandwidth_gbs"].partition("-")
    return Row(
        driver_name=fields["driver_name"],
        memory_gib=float(memory) if memory else None,
        bandwidth_gbs=float(low),
        source=fields["source"],
        high_gbs=float(high) if high else None,
        pci_ids=tuple(fields["pci_ids"].split()),
    )


def _fits(row: Row, memory_bytes: int | None) -> bool:
    if memory_bytes is None or row.memory_gib is None:
        return True
    return _LEAST_SHARE <= memory_bytes / (row.memory_gib * GIB) <= _MOST_SHARE
