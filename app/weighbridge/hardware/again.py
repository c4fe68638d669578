"""Looking again at what changes: memory, load, temperature and power.

A look at the whole machine starts programs that take seconds on some systems; this asks for no more than moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from weighbridge.hardware.amd import borrowed_pool, pool
from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.host import Host, ThisHost
from weighbridge.hardware.machine import Device, Machine, Memory, MemoryKind, Sensors
from weighbridge.hardware.memory import detect_memory
from weighbridge.hardware.nvidia_child import find_nvidia
from weighbridge.hardware.pci import AMD, INTEL, PciCard, cards, sensors

_MAKERS: Mapping[str, int] = {"amd": AMD, "intel": INTEL}


def look_again(machine: Machine, host: Host | None = None, with_cards: bool = True) -> Machine:
    """The machine as it is now; `with_cards` false leaves the cards as they were. Never raises.

    Where a card does not answer any more, its free memory and its sensors are unknown.
    """
    asked: Host = host or ThisHost()
    memory = detect_memory(asked)
    if not with_cards or not machine.devices:
        return replace(machine, memory=memory)
    look = _Look(asked, memory, _nvidia(asked, machine, memory))
    return replace(machine, memory=memory, devices=tuple(look.again(device) for device in machine.devices))


def _nvidia(host: Host, machine: Machine, memory: Memory) -> Mapping[str, Device]:
    """The cards of NVIDIA by id; asked by a child, so only where there are any."""
    if all(device.vendor != "nvidia" for device in machine.devices):
        return {}
    return {device.id: device for device in find_nvidia(host, memory, Table(())).devices}


@dataclass(frozen=True)
class _Look:
    """One look at all cards."""

    host: Host
    memory: Memory
    nvidia: Mapping[str, Device]

    def again(self, device: Device) -> Device:
        """`device` as it is now."""
        if device.vendor == "nvidia":
            fresh = self.nvidia.get(device.id)
            pools: tuple[Memory, ...] = () if fresh is None else (fresh.memory,)
            return replace(
                device, memory=self._free(device.memory, pools), sensors=Sensors() if fresh is None else fresh.sensors
            )
        card = self._card(device)
        pools = () if card is None else self._pools(device, card)
        return replace(
            device,
            memory=self._free(device.memory, pools),
            also=device.also and self._free(device.also, pools),
            sensors=Sensors() if card is None else sensors(self.host, card),
        )

    def _pools(self, device: Device, card: PciCard) -> tuple[Memory, ...]:
        if device.vendor != "amd":
            return ()
        return pool(self.host, card, "vram", MemoryKind.DEDICATED), borrowed_pool(self.host, card, self.memory)

    def _card(self, device: Device) -> PciCard | None:
        maker = _MAKERS.get(device.vendor)
        found = [] if maker is None else cards(self.host, maker)
        return next((card for card in found if card.slot == device.pci_id), None)

    def _free(self, known: Memory, pools: tuple[Memory, ...]) -> Memory:
        """What is free of a pool now: as the card tells, else of the system's as much as the card may take."""
        told = next((one for one in pools if one.kind is known.kind), None)
        if told is not None or known.kind is MemoryKind.DEDICATED:
            return replace(known, available_bytes=None if told is None else told.available_bytes)
        free = self.memory.available_bytes
        limit = known.usable_bytes
        return replace(known, available_bytes=free if free is None or limit is None else min(free, limit))
