"""A machine of a kind that is not the one here: nothing is known of its figures. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weighbridge.choices.advice.answers import Hardware
from weighbridge.choices.advice.ground import Ground
from weighbridge.choices.advice.machine_kind import system_of
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind

_CARDS: Mapping[Hardware, tuple[str, int]] = {
    Hardware.APPLE: ("apple", 1),
    Hardware.ONE_NVIDIA: ("nvidia", 1),
    Hardware.SEVERAL_NVIDIA: ("nvidia", 2),
    Hardware.NVIDIA_SERVER: ("nvidia", 2),
    Hardware.BLACKWELL_SERVER: ("nvidia", 2),
    Hardware.AMD_CARD: ("amd", 1),
    Hardware.AMD_SERVER: ("amd", 2),
}
"""Whose cards, and how many at least."""
_SERVERS = (Hardware.NVIDIA_SERVER, Hardware.BLACKWELL_SERVER, Hardware.AMD_SERVER)


def system_for(hardware: Hardware, here: str) -> str:
    """The system of such a machine: macOS is on Apple's alone, and servers with cards run Linux."""
    if hardware is Hardware.APPLE:
        return "darwin"
    return "linux" if here == "darwin" or hardware in _SERVERS else here


def imagined(ground: Ground, hardware: Hardware) -> Ground:
    """`ground` with a machine of another kind in its place, of which neither sizes nor speeds are known: no model can
    be weighed for it.
    """
    here = ground.around.machine
    vendor, count = _CARDS.get(hardware, ("", 0))
    kind = MemoryKind.UNIFIED if vendor == "apple" else MemoryKind.DEDICATED
    devices = tuple(Device(f"gpu{index}", vendor, "", Memory(kind, None, None)) for index in range(count))
    name = "Intel Xeon" if hardware is Hardware.INTEL else None
    machine = Machine(
        system=system_for(hardware, system_of(here)),
        cpu=Cpu(name, None, None, None),
        memory=Memory(MemoryKind.SHARED, None, None),
        devices=devices,
    )
    around = replace(ground.around, machine=machine, told=(), running=())
    return replace(ground, around=around, shelf=None, elsewhere=True, imagined=True)
