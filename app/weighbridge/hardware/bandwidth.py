"""Published facts of cards, from a table: by the name that a driver gives, by PCI number, and by a name as typed.

Drivers' names are compared whole, but for letter case, the maker in front, trade marks, and a chip's code name in
brackets: a laptop card never takes the figure of the desktop card in its name. Where one name stands for several
products, its memory may tell them apart; else a bandwidth is the range of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from weighbridge.hardware import cards
from weighbridge.hardware.cards import Card
from weighbridge.hardware.machine import Bandwidth
from weighbridge.hardware.rows import GIB, Row, cores_in, plain_name, plain_names, read_rows

__all__ = ["Card", "Table", "load_table"]


class Table:
    """The products with a known driver name and bandwidth."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._all = tuple(rows)
        self._rows: dict[str, list[Row]] = {}
        self._numbers: dict[str, list[Row]] = {}
        for row in self._all:
            for key in plain_names(row.driver_names):
                self._rows.setdefault(key, []).append(row)
            for number in row.pci_ids:
                self._numbers.setdefault(number, []).append(row)

    def of(self, driver_name: str, memory_bytes: int | None = None) -> Bandwidth | None:
        """The bandwidth of the card that the driver calls so, or None where the table does not know it."""
        found = self._named(driver_name, memory_bytes)
        return cards.bandwidth_of(found) if found else None

    def tflops_of(
        self, driver_name: str, memory_bytes: int | None = None, gpu_cores: int | None = None
    ) -> float | None:
        """Its published rate of half precision in shaders, in 1e12 operations a second (`Row.tflops`), or None.

        Of Apple's chips `gpu_cores` tells which one it is; where several products remain, the middle of them.
        """
        found = self._named(driver_name, memory_bytes)
        return cards.tflops_of([row for row in found if row.gpu_cores == gpu_cores] or found)

    def cores_of(self, driver_name: str) -> int | None:
        """The graphics cores of a chip of Apple's: told by its name, or the only count it is sold with."""
        counts = {row.gpu_cores for row in self._named(driver_name, None)}
        return cores_in(driver_name) or (counts.pop() if len(counts) == 1 else None)

    def capability_of(self, driver_name: str) -> str | None:
        """The compute capability of a card of NVIDIA's, or None where it has none or is not known."""
        return next((row.compute_capability for row in self._named(driver_name, None)), None)

    def card(self, name: str) -> Card | None:
        """The card that a person means by `name` ("4090", "rx 7900 xtx", "RTX 3060 8GB", "M4 Pro 20-core"), or None.

        None too where it could be one of several unlike products: `close_to` tells them.
        """
        return cards.card_named(self._all, name)

    def close_to(self, name: str, most: int = 5) -> list[str]:
        """The names nearest to one that is not known, the nearest first; `card` knows each of them."""
        return cards.close_to(self._all, name, most)

    def card_names(self) -> list[str]:
        """All cards there are to choose from, each once, in the order of the table; `card` knows each of them."""
        return cards.names_of(self._all)

    def name_of(self, vendor: int, device: int, revision: int | None) -> str | None:
        """The product with these PCI numbers: by device and revision, or by device where that is enough."""
        rows = self._numbers.get(f"{vendor:04x}:{device:04x}:{revision or 0:02x}")
        rows = rows or self._numbers.get(f"{vendor:04x}:{device:04x}")
        return rows[0].driver_names[0] if rows else None

    def sizes_of(self, vendor: int, device: int) -> list[int]:
        """The memory sizes in bytes with which the product is sold."""
        rows = self._numbers.get(f"{vendor:04x}:{device:04x}", [])
        return sorted({int(row.memory_gib * GIB) for row in rows if row.memory_gib is not None})

    def _named(self, driver_name: str, memory_bytes: int | None) -> list[Row]:
        rows = self._rows.get(plain_name(driver_name), [])
        return [row for row in rows if row.fits(memory_bytes)] or rows


def load_table(file: Path | None = None) -> Table:
    """The table that ships with the program, which is read once, or another file of the same form."""
    return _shipped() if file is None else Table(read_rows(file))


@cache
def _shipped() -> Table:
    return Table(read_rows())
