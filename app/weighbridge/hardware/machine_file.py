"""A machine described in a JSON file.

    {"ram_gib": 64, "memory_gbs": 80, "cpu": {"name": "Ryzen 9 7950X", "cores": 16, "extensions": ["AVX2"]},
     "gpus": [{"name": "RTX 4090", "count": 2}, {"name": "My card", "memory_gib": 24, "bandwidth_gbs": 900}]}

All may be left out: memory and processor are then those of this machine, and there are no cards. `memory_gbs` is the
bandwidth of the system's memory; unknown where it is left out beside `ram_gib`. A card in the table needs its name
alone; what is told of it besides stands before the table. A card that is not in the table needs its memory, and has a
speed only with its bandwidth. Instructions of the processor are named as Weighbridge shows them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.printable import printable
from weighbridge.base.strict_json import read_strict
from weighbridge.hardware.bandwidth import Card, Table
from weighbridge.hardware.cpu import EXTENSIONS
from weighbridge.hardware.described import GIVEN, MOST_CARDS, RAM_GIB, described, unknown_card, within
from weighbridge.hardware.machine import Bandwidth, Cpu, Machine, MemoryKind
from weighbridge.hardware.rows import GIB, vendor_named

MOST_LETTERS = 1 << 16
CARD_GIB = 0.25, 4096.0
GBS = 0.1, 100_000.0
CORES = 1, 4096
_LONGEST_NAME = 100
_MACHINE = ("ram_gib", "memory_gbs", "cpu", "gpus")
_CPU = ("name", "cores", "extensions")
_GPU = ("name", "count", "memory_gib", "bandwidth_gbs")
T = TypeVar("T")


def read_machine(text: str, base: Machine, table: Table, engines: Sequence[str] = ()) -> Machine:
    """The machine that `text` describes; what it leaves open is as on `base`. `engines` are as in `described`.

    Raises BadFile("machine.unreadable") where it is no such JSON, and Refused: "machine.kind", "machine.key",
    "machine.missing" and "machine.value" name the place; "machine.card_near" and "machine.card_unknown" the card; and
    what `described` raises.
    """
    values = _Values(_parsed(text), "", _MACHINE)
    ram_gib = values.number("ram_gib", *RAM_GIB)
    cpu = values.inner("cpu", _CPU)
    cards = [_card(gpu, table) for gpu in values.inner_list("gpus", _GPU)]
    return described(
        base if cpu is None else replace(base, cpu=_cpu(cpu)),
        cards,
        None if ram_gib is None else int(ram_gib * GIB),
        engines=engines,
        memory_gbs=values.number("memory_gbs", *GBS),
    )


@dataclass(frozen=True)
class _Values:
    """An object of the file, the place where it stands, and the names that mean something there."""

    values: Mapping[str, Any]
    place: str
    known: Sequence[str]

    def __post_init__(self) -> None:
        for key in self.values:
            if key not in self.known:
                raise Refused("machine.key", place=self.place + printable(key)[:_LONGEST_NAME], known=list(self.known))

    def number(self, key: str, low: float, high: float) -> float | None:
        """A number between two others."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused("machine.kind", place=self.place + key, kind="number")
        figure = _float(value)
        within(self.place + key, figure, low, high)
        return figure

    def whole(self, key: str, low: int, high: int) -> int | None:
        """A whole number between two others."""
        value = self.number(key, low, high)
        if value is not None and not value.is_integer():
            raise Refused("machine.value", place=self.place + key, value=f"{value:g}", low=f"{low}", high=f"{high}")
        return None if value is None else int(value)

    def name(self) -> str | None:
        """What the thing is called."""
        value = self._of_kind("name", str, "string")
        if value is not None and not 0 < len(value.strip()) <= _LONGEST_NAME:
            place = f"{self.place}name.length"
            raise Refused("machine.value", place=place, value=len(value.strip()), low=1, high=_LONGEST_NAME)
        return None if value is None else printable(value.strip())

    def inner(self, key: str, known: Sequence[str]) -> _Values | None:
        """An object inside of this one."""
        value = self._of_kind(key, dict, "object")
        return None if value is None else _Values(value, f"{self.place}{key}.", known)

    def inner_list(self, key: str, known: Sequence[str]) -> list[_Values]:
        """The objects of a list."""
        found = self._of_kind(key, list, "array") or []
        within(self.place + key, len(found), 0, MOST_CARDS)
        places = [f"{self.place}{key}[{index}]" for index in range(len(found))]
        return [
            _Values(_kept(each, dict, "object", at), f"{at}.", known) for each, at in zip(found, places, strict=True)
        ]

    def words(self, key: str, known: Sequence[str]) -> tuple[str, ...]:
        """Words out of a list of known ones."""
        found = self._of_kind(key, list, "array") or []
        for index, word in enumerate(found):
            if word not in known:
                place = f"{self.place}{key}[{index}]"
                raise Refused("machine.key", place=f"{place} {printable(str(word))[:_LONGEST_NAME]}", known=list(known))
        return tuple(found)

    def _of_kind(self, key: str, kind: type[T], called: str) -> T | None:
        value = self.values.get(key)
        return None if value is None else _kept(value, kind, called, self.place + key)


def _kept(value: object, kind: type[T], called: str, place: str) -> T:
    if not isinstance(value, kind):
        raise Refused("machine.kind", place=place, kind=called)
    return value


def _float(value: int | float) -> float:
    """The figure; one of hundreds of digits is as good as infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > MOST_LETTERS:
        raise BadFile("machine.unreadable", reason=f"> {MOST_LETTERS}")
    try:
        return _kept(read_strict(text), dict, "object", "{}")
    except (ValueError, RecursionError) as error:
        raise BadFile("machine.unreadable", reason=printable(str(error))[:200]) from error


def _cpu(values: _Values) -> Cpu:
    cores = values.whole("cores", *CORES)
    extensions = values.words("extensions", tuple(dict.fromkeys(EXTENSIONS.values())))
    return Cpu(values.name(), cores, None, cores, extensions)


def _card(values: _Values, table: Table) -> tuple[Card, int]:
    name = values.name()
    if name is None:
        raise Refused("machine.missing", place=f"{values.place}name")
    memory_gib, gbs = values.number("memory_gib", *CARD_GIB), values.number("bandwidth_gbs", *GBS)
    card = _known(table, name, memory_gib)
    if memory_gib is not None:
        card = replace(card, memory_bytes=int(memory_gib * GIB))
    if gbs is not None:
        card = replace(card, bandwidth=Bandwidth(gbs, gbs, GIVEN))
    return card, values.whole("count", 1, MOST_CARDS) or 1


def _known(table: Table, name: str, memory_gib: float | None) -> Card:
    """The card in the table, of that size where it is sold with it; else one of which nothing but its name is known."""
    sized = None if memory_gib is None else table.card(f"{name} {memory_gib:g} GB")
    card = sized or table.card(name)
    if card is not None:
        return card
    if memory_gib is None:
        raise unknown_card(table, name)
    vendor = vendor_named(name) or "other"
    return Card(name, name, vendor, None, kind=MemoryKind.UNIFIED if vendor == "apple" else MemoryKind.DEDICATED)
