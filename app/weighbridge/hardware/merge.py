"""Devices seen in several ways become one: by the system's probes, and by each engine under a name of its own.

A card is the same by its PCI address, else by its name and, where both tell it, its memory. One observer never names a
card twice, so two equal cards stay two. Facts of the first observer stand; others fill what it left open. Memory of one
kind is never added to memory of another, and a card's own memory is never made larger by what it may borrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.machine import Basis, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.hardware.pci import same_slot
from weighbridge.hardware.rows import plain_name, vendor_named
from weighbridge_engines import api

_SOFTWARE = ("llvmpipe", "lavapipe", "swiftshader", "softpipe", "microsoft basic render")
_WRAPPED = re.compile(r"microsoft direct3d12 \((.+)\)", re.IGNORECASE)
_KINDS = {"gpu": MemoryKind.DEDICATED, "shared": MemoryKind.SHARED}
_NEAR = 0.12
"""How far apart two observers may be on one card's memory: some leave out what the driver keeps for itself."""
_ORDER = {MemoryKind.DEDICATED: 0, MemoryKind.UNIFIED: 1, MemoryKind.SHARED: 2}


def merged(groups: Iterable[Sequence[Device]]) -> tuple[Device, ...]:
    """The devices of several observers, the most trusted first, each once; cards of their own before graphics parts."""
    known: list[Device] = []
    for group in groups:
        free = list(range(len(known)))
        for device in group:
            place = next((index for index in free if is_same(known[index], device)), None)
            if place is None:
                known.append(device)
            else:
                free.remove(place)
                known[place] = filled(known[place], device)
    return in_order(known)


def with_engines(machine: Machine, told: Mapping[str, Sequence[api.Device]], table: Table) -> Machine:
    """The machine with what each engine sees: which of its devices the engine can use, and what it knows of them."""
    seen = [group for engine, devices in told.items() for group in observers(engine, devices, table)]
    return replace(machine, devices=merged([machine.devices, *seen]))


def observers(engine: str, devices: Sequence[api.Device], table: Table) -> list[list[Device]]:
    """What an engine told, in our form: a list for each of its ways to compute (CUDA0 and Vulkan0 may be one card).

    Software that plays a card, and the processor, are no devices here. What is seen through Direct3D comes last.
    """
    groups: dict[tuple[bool, str], list[Device]] = {}
    for told in devices:
        if told.kind in _KINDS and not told.name.lower().startswith(_SOFTWARE):
            way = _WRAPPED.match(told.name) is not None, told.id.rstrip("0123456789")
            groups.setdefault(way, []).append(_as_device(engine, told, table))
    return [groups[way] for way in sorted(groups)]


def is_same(one: Device, other: Device) -> bool:
    """Whether two observers speak of one card."""
    slots = same_slot(one.pci_id), same_slot(other.pci_id)
    if None not in slots and slots[0] != slots[1]:
        return False
    if None not in slots:
        # Slices of a divided card share its slot: their memory tells them apart.
        return " MIG " not in one.name or _near(one.memory, other.memory)
    if one.vendor == other.vendor != "other" and one.integrated and other.integrated:
        return True  # a processor has one graphics part, whatever it is called and however much it may borrow
    return plain_name(one.name) == plain_name(other.name) and _near(one.memory, other.memory)


def filled(known: Device, other: Device) -> Device:
    """`known` with what only `other` tells."""
    return replace(
        known,
        memory=_filled_memory(known.memory, other.memory),
        driver=known.driver or other.driver,
        compute_capability=known.compute_capability or other.compute_capability,
        pci_id=known.pci_id or other.pci_id,
        bandwidth=known.bandwidth or other.bandwidth,
        problems=tuple(cause for cause in known.problems if not _answered(cause, other)),
        also=known.also or other.also,
        seen_by=(*known.seen_by, *other.seen_by),
    )


def in_order(devices: Iterable[Device]) -> tuple[Device, ...]:
    """Cards with memory of their own first, then one memory for all, then borrowed memory."""
    return tuple(sorted(devices, key=lambda device: (device.integrated, _ORDER[device.memory.kind])))


def _filled_memory(known: Memory, other: Memory) -> Memory:
    """Where the kinds differ, only a limit is taken over: a part of one memory that an engine may use."""
    if known.kind is MemoryKind.UNIFIED or known.usable_basis is Basis.ESTIMATE:
        limit, total = other.total_bytes, known.total_bytes
        if limit is None or total is None or limit >= total:
            return known
        available = known.available_bytes if known.available_bytes is None else min(known.available_bytes, limit)
        return replace(known, available_bytes=available, usable_bytes=limit, usable_basis=Basis.TOLD)
    if known.kind is not other.kind:
        return known
    total = known.total_bytes if known.total_bytes is not None else other.total_bytes
    available = known.available_bytes if known.available_bytes is not None else other.available_bytes
    return replace(known, total_bytes=total, available_bytes=available)


def _answered(cause: api.Cause, other: Device) -> bool:
    return cause.code == "card.memory_unknown" and other.memory.total_bytes is not None


def _near(one: Memory, other: Memory) -> bool:
    """Unknown sizes, and memory of different kinds, do not tell two cards apart."""
    sizes = one.total_bytes, other.total_bytes
    if one.kind is not other.kind or sizes[0] is None or sizes[1] is None:
        return True
    return abs(sizes[0] - sizes[1]) <= _NEAR * max(sizes[0], sizes[1])


def _as_device(engine: str, told: api.Device, table: Table) -> Device:
    wrapped = _WRAPPED.match(told.name)
    name = wrapped[1] if wrapped else told.name
    kind = _KINDS[told.kind]
    # Direct3D adds up a card's own memory and what it may borrow, so its figure is no size of either.
    memory = Memory(kind, None, None) if wrapped else Memory(kind, told.memory_total_bytes, told.memory_free_bytes)
    return Device(
        id=f"{engine}.{told.id}".lower(),
        vendor=vendor_of(told),
        name=name,
        memory=memory,
        pci_id=told.pci_id,
        bandwidth=table.of(name, memory.total_bytes if kind is MemoryKind.DEDICATED else None),
        integrated=kind is MemoryKind.SHARED,
        seen_by=(Sight(engine, told.id),),
    )


def vendor_of(told: api.Device) -> str:
    """The maker of a device, by what an engine calls it; "other" where that does not tell."""
    if told.id.startswith(("CUDA", "cuda")):
        return "nvidia"
    return vendor_named(told.name) or "other"
