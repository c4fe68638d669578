"""A machine with more in it than it has: more memory, faster memory, one more card. Pure.

Prices are not known, so each kind is ordered by how much of it there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.cards import Card
from weighbridge.hardware.described import described
from weighbridge.hardware.machine import Device, Machine, MemoryKind, Sight
from weighbridge.hardware.memory_types import MemoryType

GIB = 1 << 30
MEMORIES_GIB = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
"""Sizes of system memory, as modules are sold."""

_FOR_PEOPLE = re.compile(r"(?:GeForce (?:RTX|GTX)|Radeon RX|Arc [AB]\d)")
_FOR_WORK = re.compile(r"(?:RTX|Radeon (?:AI )?PRO|Arc Pro) ")
_FOR_LAPTOPS = re.compile(r"laptop|mobile|with max-q|\d[ms](?: xt)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Upgrade:
    """A machine, and what it has that the one here has not.

    `device` is a card: one more like those that are there (`like_others`), or one in their place (`replaces`).
    """

    machine: Machine
    memory_bytes: int | None = None
    memory_type: MemoryType | None = None
    device: Device | None = None
    like_others: bool = False
    replaces: bool = False


def more_memory(machine: Machine) -> Iterator[Upgrade]:
    """With more system memory, the least first; what other programs use stays in use."""
    memory = machine.memory
    total, free = memory.total_bytes, memory.available_bytes
    if total is None or free is None:
        return
    for size in (gib * GIB for gib in MEMORIES_GIB):
        if size > total * 1.1:  # a system tells somewhat less than its modules hold
            larger = replace(memory, total_bytes=size, available_bytes=free + size - total)
            devices = tuple(_borrowing(device, size / total) for device in machine.devices)
            yield Upgrade(replace(machine, memory=larger, devices=devices), memory_bytes=size)


def faster_memory(machine: Machine, kinds: Sequence[MemoryType]) -> Iterator[Upgrade]:
    """With system memory of another kind, the slowest first."""
    known = machine.bandwidth
    for kind in kinds:
        if known is not None and kind.bandwidth.low_gbs > known.high_gbs:
            yield Upgrade(replace(machine, bandwidth=kind.bandwidth), memory_type=kind)


def one_more_card(machine: Machine, used: Sequence[Device]) -> Iterator[Upgrade]:
    """With one more of the largest card that an engine uses here, nothing else being in it."""
    if not used:
        return
    largest = max(used, key=lambda device: device.memory.total_bytes or 0)
    memory = replace(largest.memory, available_bytes=largest.memory.total_bytes)
    again = replace(largest, id=f"{largest.id}+", pci_id=None, memory=memory)
    yield Upgrade(replace(machine, devices=(*machine.devices, again)), device=again, like_others=True)


def cards_to_add(table: Table) -> list[Card]:
    """Cards for desktops of which all is known that counts: the least memory first, then those for people before
    those for workstations, then the slowest.
    """
    cards = [each for name in table.card_names() if _is_for_desktops(name) for each in _sizes(table, name)]
    return sorted(cards, key=_order)


def is_of_laptop(name: str) -> bool:
    """Whether a card is soldered into a laptop: neither another nor one more goes in there."""
    return _FOR_LAPTOPS.search(name) is not None


def _borrowing(device: Device, factor: float) -> Device:
    """A graphics part that borrows the system's memory may borrow the same share of more."""
    memory = device.memory
    if memory.kind is not MemoryKind.SHARED:
        return device
    sizes = (memory.total_bytes, memory.available_bytes, memory.usable_bytes)
    total, free, usable_bytes = (None if size is None else int(size * factor) for size in sizes)
    return replace(device, memory=replace(memory, total_bytes=total, available_bytes=free, usable_bytes=usable_bytes))


def _is_for_desktops(name: str) -> bool:
    return not is_of_laptop(name) and bool(_FOR_PEOPLE.match(name) or _FOR_WORK.match(name))


def _sizes(table: Table, name: str) -> Iterator[Card]:
    """One for each size of memory that it is sold with."""
    card = table.card(name)
    if card is None or card.kind is not MemoryKind.DEDICATED or card.bandwidth is None:
        return
    for memory_bytes in card.memories_bytes:
        exact = table.card(f"{name} {memory_bytes / GIB:g}GB") if len(card.memories_bytes) > 1 else None
        yield exact or replace(card, memory_bytes=memory_bytes)


def _order(card: Card) -> tuple[int, bool, float]:
    return card.memory_bytes or 0, not _FOR_PEOPLE.match(card.name), card.bandwidth.low_gbs if card.bandwidth else 0.0


def with_card(machine: Machine, card: Card, engine_id: str) -> Upgrade:
    """With a card, in place of those that are there, for a build of the engine that can use it."""
    described_so = described(machine, [(card, 1)], engines=(engine_id,))
    replaces = any(device.memory.kind is MemoryKind.DEDICATED for device in machine.devices)
    return Upgrade(described_so, device=described_so.devices[0], replaces=replaces)


def usable(device: Device, engine_id: str) -> Device:
    """As a build of the engine that can use it would see it."""
    if any(sight.engine == engine_id for sight in device.seen_by):
        return device
    return replace(device, seen_by=(*device.seen_by, Sight(engine_id, device.id)))
