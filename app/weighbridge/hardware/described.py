"""A machine that somebody describes instead of having it: other cards, more memory. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from weighbridge.base.errors import Refused
from weighbridge.hardware.amd import lent_by_default
from weighbridge.hardware.apple import working_set
from weighbridge.hardware.bandwidth import Card, Table
from weighbridge.hardware.intel import borrowed
from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.hardware.rows import GIB, without_cores

GIVEN = "described"
"""The source of a figure that whoever described the machine gave."""
SYSTEM_BYTES = 3 * GIB
"""What a system and its desktop hold of the memory before any model is loaded."""
DESKTOP_BYTES = GIB // 2
"""What a desktop holds of the card that its screen hangs on."""
RAM_GIB = 0.5, 16_384.0
MOST_CARDS = 32
_WAYS = {"nvidia": "CUDA", "amd": "ROCm", "apple": "Metal"}
_ARM = ("NEON", "FP16", "DotProd")
"""What every processor has that comes in one chip with a card: Apple's, and NVIDIA's GB10."""


def described(
    base: Machine,
    cards: Sequence[tuple[Card, int]] = (),
    ram_bytes: int | None = None,
    *,
    engines: Sequence[str] = (),
    memory_gbs: float | None = None,
) -> Machine:
    """`base` with `cards`, so many of each, in place of its own, and with `ram_bytes` of memory where given.

    Free of the memory is all but 3 GiB for the system, free of each card all but 0.5 GiB, as a desktop holds on the
    first one. How fast other memory is, nobody knows: its bandwidth is `memory_gbs`, or unknown. A chip that brings
    processor, card and memory in one (Apple's, GB10) replaces those of `base`, and Apple's its system. Each engine in
    `engines` sees all cards, under the names that llama.cpp gives such cards.

    Raises Refused: "machine.card_memory" where a card's name leaves its memory open, "machine.chip_memory" where that
    of a chip is not told, "machine.one_chip" for a chip beside others, "machine.value" for absurd sizes and counts.
    """
    for _, count in cards:
        within("gpus", count, 1, MOST_CARDS)
    if ram_bytes is not None:
        within("ram_gib", ram_bytes / GIB, *RAM_GIB)
    wanted = [card for card, count in cards for _ in range(count)]
    within("gpus", len(wanted), 0, MOST_CARDS)
    machine = replace(base, devices=(), problems=(), within=())
    if ram_bytes is not None:
        machine = replace(machine, memory=_ram(ram_bytes), bandwidth=None)
    if memory_gbs is not None:
        machine = replace(machine, bandwidth=Bandwidth(memory_gbs, memory_gbs, GIVEN))
    chip = next((card for card in wanted if card.kind is MemoryKind.UNIFIED), None)
    if chip is not None:
        machine = _of_chip(machine, chip, wanted, ram_bytes)
    devices = (_device(index, card, machine.memory) for index, card in enumerate(wanted))
    return replace(machine, devices=_seen(devices, engines))


def card_called(table: Table, name: str) -> Card:
    """The card that a person means. Raises Refused("machine.card_unknown" or "machine.card_near", which names some)."""
    card = table.card(name)
    if card is None:
        raise unknown_card(table, name)
    return card


def unknown_card(table: Table, name: str) -> Refused:
    """The error for a name that no card in the table has, with the names that are near."""
    near = table.close_to(name)
    if near:
        return Refused("machine.card_near", name=name, near=near)
    return Refused("machine.card_unknown", name=name)


def within(place: str, value: float, low: float, high: float) -> None:
    """Raises Refused("machine.value") where a figure is outside of what a machine can be."""
    if not low <= value <= high:
        raise Refused("machine.value", place=place, value=f"{value:g}", low=f"{low:g}", high=f"{high:g}")


def _ram(total_bytes: int) -> Memory:
    return Memory(MemoryKind.SHARED, total_bytes, max(0, total_bytes - SYSTEM_BYTES))


def _of_chip(machine: Machine, chip: Card, wanted: Sequence[Card], ram_bytes: int | None) -> Machine:
    """The machine that is one chip: what it has of its own is the card's."""
    if len(wanted) > 1:
        raise Refused("machine.one_chip", name=chip.name)
    total = chip.memory_bytes or ram_bytes
    if total is None:
        raise Refused("machine.chip_memory", name=chip.name)
    name = without_cores(chip.driver_name)
    return replace(
        machine,
        system="darwin" if chip.vendor == "apple" else machine.system,
        cpu=machine.cpu if machine.cpu.name == name else Cpu(name, None, None, None, _ARM),
        memory=_ram(total),
        bandwidth=chip.bandwidth,
    )


def _device(index: int, card: Card, system: Memory) -> Device:
    return Device(
        id=f"gpu{index}",
        vendor=card.vendor,
        name=card.driver_name,
        memory=_memory(card, system),
        compute_capability=card.compute_capability,
        bandwidth=card.bandwidth,
        integrated=card.kind is not MemoryKind.DEDICATED,
        gpu_cores=card.gpu_cores,
    )


def _memory(card: Card, system: Memory) -> Memory:
    if card.vendor == "apple":
        return working_set(system, {})
    if card.kind is MemoryKind.UNIFIED:
        return replace(system, kind=MemoryKind.UNIFIED)
    if card.kind is MemoryKind.SHARED:
        return lent_by_default(system) if card.vendor == "amd" else borrowed(system)
    total = card.memory_bytes
    if total is None:
        raise Refused("machine.card_memory", name=card.name, sizes=[f"{size / GIB:g}" for size in card.memories_bytes])
    return Memory(MemoryKind.DEDICATED, total, max(0, total - DESKTOP_BYTES))


def _seen(devices: Iterable[Device], engines: Sequence[str]) -> tuple[Device, ...]:
    """The devices, each seen by each engine; they are counted by the way in which a maker's cards are reached."""
    counts: dict[str, int] = {}
    seen = []
    for device in devices:
        way = _WAYS.get(device.vendor, "Vulkan")
        number = counts[way] = counts.get(way, -1) + 1
        sight = way if way == "Metal" else f"{way}{number}"
        seen.append(replace(device, seen_by=tuple(Sight(engine, sight) for engine in engines)))
    return tuple(seen)
