"""A machine that somebody thinks of, as what models are weighed against: other cards, more or faster memory. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from weighbridge.base.units import GIB, number, size
from weighbridge.base.words import text
from weighbridge.choices.choice import Surroundings
from weighbridge.choices.runner import CALCULATED, ONLY_ON
from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.cards import Card
from weighbridge.hardware.described import SYSTEM_BYTES, described
from weighbridge.hardware.machine import Device, Machine, Memory, MemoryKind
from weighbridge.hardware.memory_types import MemoryType


@dataclass(frozen=True)
class OtherMachine:
    """What it has that this one has not. None: as here. `cards` is how many of `card`."""

    card: Card | None = None
    cards: int = 1
    ram_bytes: int | None = None
    memory_type: MemoryType | None = None

    @property
    def is_this(self) -> bool:
        """Whether nothing is other."""
        return self.card is None and self.ram_bytes is None and self.memory_type is None

    def described(self, here: Surroundings) -> Surroundings:
        """What models are weighed against there: builds of all engines that can use its cards, and nothing loaded.

        Other memory is as fast as the one here, unless its type is told. Raises Refused: see `hardware.described`.
        """
        return in_place_of(here, self._machine(here.machine, engines_there(here)))

    def _machine(self, base: Machine, engines: tuple[str, ...]) -> Machine:
        if self.card is not None and self.card.kind is MemoryKind.UNIFIED:
            memory_bytes = self.ram_bytes or base.memory.total_bytes
            return described(base, [(self.card, self.cards)], memory_bytes, engines=engines)
        cards = [] if self.card is None else [(self.card, self.cards)]
        made = described(base, cards, self.ram_bytes, engines=engines)
        if self.card is None:
            made = replace(made, devices=tuple(_kept(device, self.ram_bytes) for device in base.devices))
        return replace(made, bandwidth=self.memory_type.bandwidth if self.memory_type else base.bandwidth)


def engines_there(here: Surroundings) -> tuple[str, ...]:
    """The ids of all engines of which a build could use the cards of another machine."""
    return tuple(dict.fromkeys((*here.engines, *CALCULATED)))


def in_place_of(here: Surroundings, machine: Machine) -> Surroundings:
    """`here` with another machine, as `hardware.described` makes it: nothing is loaded there, and nothing was told."""
    devices = tuple(_seen_where_possible(device) for device in machine.devices)
    return replace(here, machine=replace(machine, devices=devices), told=(), running=())


def cards_by_name(table: Table) -> dict[str, Card]:
    """The cards to choose from, one for each size of memory that they are sold with ("GeForce RTX 3060 12GB")."""
    found: dict[str, Card] = {}
    for name in table.card_names():
        card = table.card(name)
        if card is None:
            continue
        if card.memory_bytes is not None or not card.memories_bytes:
            found[name] = card
            continue
        for memory_bytes in card.memories_bytes:
            found[f"{name} {memory_bytes / GIB:g}GB"] = replace(card, memory_bytes=memory_bytes)
    return found


def machine_in_words(machine: Machine) -> str:
    """ "2 × NVIDIA GeForce RTX 4090 and 64.0 GiB of memory"."""
    memory = size(machine.memory.total_bytes)
    counts = Counter(device.name for device in machine.devices)
    if not counts:
        return text("no card and {memory} of memory", memory=memory)
    cards = ", ".join(name if count == 1 else f"{number(count)} × {name}" for name, count in counts.items())
    return text("{cards} and {memory} of memory", cards=cards, memory=memory)


def _kept(device: Device, ram_bytes: int | None) -> Device:
    """A device of this machine beside other memory; one that borrows from it may borrow the same share."""
    memory = device.memory
    if ram_bytes is None or memory.kind is MemoryKind.DEDICATED or not memory.total_bytes:
        return device
    usable = None if memory.usable_bytes is None else int(memory.usable_bytes / memory.total_bytes * ram_bytes)
    return replace(
        device, memory=Memory(memory.kind, ram_bytes, max(0, ram_bytes - SYSTEM_BYTES), usable, memory.usable_basis)
    )


def _seen_where_possible(device: Device) -> Device:
    """Without the engines that need another maker's cards."""
    seen = tuple(sight for sight in device.seen_by if device.vendor in ONLY_ON.get(sight.engine, (device.vendor,)))
    return replace(device, seen_by=seen)
