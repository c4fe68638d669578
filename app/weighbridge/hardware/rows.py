"""The rows of `hardware.csv`: products, as their makers' drivers name them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from weighbridge.hardware.machine import MemoryKind
from weighbridge_resources import path

GIB = 1 << 30
_LEAST_SHARE, _MOST_SHARE = 0.88, 1.03
"""A driver tells less than a card is sold with: error correction takes up to a sixteenth, firmware some more."""

_MARKS = re.compile(r"\((?:r|tm)\)|®|™")
_CODE_NAME = re.compile(r"\s*\((?!\d+-core)[^()]*\)$")
_CORES = re.compile(r"\s*\((\d+)-core gpu\)$", re.IGNORECASE)
_MAKERS = ("nvidia ", "amd ", "intel ")
_WORDS = re.compile(r"[a-z]+")
_VENDOR_WORDS = {
    "nvidia": "nvidia",
    "geforce": "nvidia",
    "quadro": "nvidia",
    "rtx": "nvidia",
    "gtx": "nvidia",
    "amd": "amd",
    "radeon": "amd",
    "intel": "intel",
    "apple": "apple",
}


@dataclass(frozen=True)
class Row:
    """One product. `driver_name` may hold several, parted by semicolons; `also_called` is what people say for it.

    `high_gbs` is there where its memory may be of several speeds. `tflops` is the rate of half precision in shaders, or
    that of single precision where half precision is slower, in 1e12 operations a second: what its maker or TechPowerUp
    publishes, not what matrix units reach.
    """

    driver_name: str
    memory_gib: float | None
    bandwidth_gbs: float
    source: str
    high_gbs: float | None = None
    pci_ids: tuple[str, ...] = ()
    name: str = ""
    vendor: str = ""
    tflops: float | None = None
    compute_capability: str | None = None
    kind: MemoryKind = MemoryKind.DEDICATED
    also_called: tuple[str, ...] = ()

    @property
    def driver_names(self) -> list[str]:
        """All names that drivers give it."""
        return self.driver_name.split(";")

    @property
    def gpu_cores(self) -> int | None:
        """The graphics cores of a chip that is sold with more or fewer of them."""
        return cores_in(self.driver_name)

    def fits(self, memory_bytes: int | None) -> bool:
        """Whether a card of this product may tell that much memory."""
        if memory_bytes is None or self.memory_gib is None:
            return True
        return _LEAST_SHARE <= memory_bytes / (self.memory_gib * GIB) <= _MOST_SHARE


def read_rows(file: Path | None = None) -> list[Row]:
    """The rows with a driver's name and a bandwidth, of the table that ships or another of the same form."""
    with (file or path("hardware.csv")).open(encoding="utf-8", newline="") as lines:
        return [_row(fields) for fields in csv.DictReader(lines) if fields["driver_name"] and fields["bandwidth_gbs"]]


def plain_name(name: str) -> str:
    """A driver's name for a card without what differs from driver to driver, to compare names by."""
    plain = _CODE_NAME.sub("", without_marks(name))
    for maker in _MAKERS:
        plain = plain.removeprefix(maker)
    return plain.removesuffix(" graphics")


def without_marks(name: str) -> str:
    """A name in small letters, with single spaces and no trade marks."""
    return " ".join(_MARKS.sub(" ", name.casefold()).split())


def plain_names(names: Iterable[str]) -> set[str]:
    """The names to find a product by; a chip sold with more or fewer cores also goes by its name without the count."""
    plain = {plain_name(name) for name in names}
    return plain | {without_cores(name) for name in plain}


def without_cores(name: str) -> str:
    """A chip's name without the count of its graphics cores."""
    return _CORES.sub("", name)


def cores_in(name: str) -> int | None:
    """The count of graphics cores in a chip's name ("Apple M4 Pro (20-core GPU)")."""
    found = _CORES.search(name)
    return int(found[1]) if found else None


def vendor_named(name: str) -> str | None:
    """The maker that a name tells of: by the maker's own word, or by a line of its products."""
    words = _WORDS.findall(without_marks(name))
    return next((_VENDOR_WORDS[word] for word in words if word in _VENDOR_WORDS), None)


def _row(fields: dict[str, str]) -> Row:
    low, _, high = fields["bandwidth_gbs"].partition("-")
    return Row(
        driver_name=fields["driver_name"],
        memory_gib=_number(fields["memory_gib"]),
        bandwidth_gbs=float(low),
        source=fields["source"],
        high_gbs=_number(high),
        pci_ids=tuple(fields["pci_ids"].split()),
        name=fields["name"],
        vendor=fields["vendor"].casefold(),
        tflops=_number(fields["fp16_tflops"]),
        compute_capability=fields["compute_capability"] or None,
        kind=MemoryKind(fields["memory_kind"] or MemoryKind.DEDICATED),
        also_called=tuple(name for name in fields["also_called"].split(";") if name),
    )


def _number(text: str) -> float | None:
    return float(text) if text else None
