"""A card as a person may ask for it: by a name, and what is published of the products of that name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from weighbridge.hardware.machine import VENDORS, Bandwidth, MemoryKind
from weighbridge.hardware.rows import GIB, Row, without_cores
from weighbridge.hardware.typed import is_laptop, keys_of, rows_named, taken_apart

_NEAR = 0.6
_PART = re.compile(r"[\s-]+")
_MAKERS = ("NVIDIA ", "AMD ", "Intel ")


@dataclass(frozen=True)
class Card:
    """What is known of a card.

    `memories_bytes` are the sizes it is sold with; `memory_bytes` is one of them, or what was asked for, or None where
    the name leaves it open. `fp16_tflops` is as in `Row.tflops`.
    """

    name: str
    driver_name: str
    vendor: str
    memory_bytes: int | None
    memories_bytes: tuple[int, ...] = ()
    kind: MemoryKind = MemoryKind.DEDICATED
    bandwidth: Bandwidth | None = None
    fp16_tflops: float | None = None
    compute_capability: str | None = None
    gpu_cores: int | None = None

    @property
    def source(self) -> str:
        """Where its figures are published."""
        return self.bandwidth.source if self.bandwidth else ""


def card_named(rows: Sequence[Row], name: str) -> Card | None:
    """The card that a typed name means, or None where no product or several unlike ones have it."""
    found = rows_named([row for row in rows if row.vendor in VENDORS], name)
    if not found:
        return None
    sizes = sorted({int(row.memory_gib * GIB) for row in found if row.memory_gib is not None})
    asked_gib = taken_apart(name).memory_gib
    cores = {row.gpu_cores for row in found}
    return Card(
        name=_name(found),
        driver_name=_driver_name(found),
        vendor=found[0].vendor,
        memory_bytes=sizes[0] if len(sizes) == 1 else int(asked_gib * GIB) if asked_gib else None,
        memories_bytes=tuple(sizes),
        kind=found[0].kind,
        bandwidth=bandwidth_of(found),
        fp16_tflops=tflops_of(found),
        compute_capability=found[0].compute_capability,
        gpu_cores=cores.pop() if len(cores) == 1 else None,
    )


def bandwidth_of(rows: Sequence[Row]) -> Bandwidth:
    """The bandwidth of products, from the slowest to the fastest."""
    highest = max(row.high_gbs or row.bandwidth_gbs for row in rows)
    return Bandwidth(min(row.bandwidth_gbs for row in rows), highest, rows[0].source)


def tflops_of(rows: Iterable[Row]) -> float | None:
    """The middle between the slowest and the fastest of products."""
    rates = [row.tflops for row in rows if row.tflops is not None]
    return round((min(rates) + max(rates)) / 2, 3) if rates else None


def names_of(rows: Iterable[Row]) -> list[str]:
    """The cards to choose from, each once and by a name that `card_named` knows, in the order of the table."""
    return list(dict.fromkeys(_name([row]) for row in rows if row.vendor in VENDORS))


def close_to(rows: Sequence[Row], name: str, most: int) -> list[str]:
    """The names nearest to a typed one, the nearest first; those with the same number before others."""
    asked = taken_apart(name)
    numbers = [word for word in asked.words if len(word) > 1 and any(letter.isdigit() for letter in word)]
    near: dict[str, float] = {}
    for row in rows:
        if row.vendor in VENDORS and asked.key:
            likeness = max(_likeness(asked.key, key, numbers) for key in keys_of(row))
            near[_name([row])] = max(likeness, near.get(_name([row]), 0.0))
    ranked = sorted((name for name in near if near[name] >= _NEAR), key=lambda name: -near[name])
    return ranked[:most]


def _likeness(asked: str, key: str, numbers: Sequence[str]) -> float:
    has_number = bool(numbers) and all(number in key for number in numbers)
    return SequenceMatcher(None, asked, key, autojunk=False).ratio() + has_number


def _name(rows: Sequence[Row]) -> str:
    """What people call them: the driver's name without the maker, or the words that all their names have."""
    names = {_own_name(row) for row in rows}
    if len(names) == 1:
        return names.pop()
    first, *others = [_PART.split(without_cores(_own_name(row))) for row in rows]
    return " ".join(word for word in first if all(word in other for other in others))


def _own_name(row: Row) -> str:
    if is_laptop(row) and not any(taken_apart(name).of_laptop for name in row.driver_names):
        return row.name
    name = row.driver_names[0]
    for maker in _MAKERS:
        name = name.removeprefix(maker)
    return name.removesuffix(" Graphics") if any(letter.isdigit() for letter in name) else name


def _driver_name(rows: Sequence[Row]) -> str:
    """The driver's; of a chip sold with more or fewer cores without their count where it is open."""
    first = rows[0].driver_names[0]
    return first if len({row.driver_name for row in rows}) == 1 else without_cores(first)
