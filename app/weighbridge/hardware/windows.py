"""Graphics cards on Windows, from the values of the registry's display class.

The 64-bit size is a card's own memory. What a graphics part of the processor may take besides is half of the system's
memory (Microsoft, "Calculating Graphics Memory"); the two are kept apart. Keys of cards that were taken out may stay in
the registry: what an engine or NVIDIA's library sees is surer than this list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from weighbridge.hardware.amd import INTEGRATED, larger_first
from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.host import Host
from weighbridge.hardware.intel import is_discrete
from weighbridge.hardware.machine import Basis, Device, Found, Memory, MemoryKind
from weighbridge.hardware.pci import AMD, INTEL, NVIDIA, PciCard
from weighbridge_engines.api import Cause

_MAKERS = {AMD: "amd", INTEL: "intel", NVIDIA: "nvidia"}
_NUMBERS = re.compile(r"pci\\ven_([0-9a-f]{4})&dev_([0-9a-f]{4})", re.IGNORECASE)


def find_adapters(host: Host, system: Memory, table: Table) -> Found:
    """The display adapters that compute. `system` is the memory that graphics parts borrow."""
    if host.system != "Windows":
        return Found()
    found = [_device(index, values, system, table) for index, values in enumerate(host.adapters())]
    return Found(tuple(device for device in found if device is not None))


def own_bytes(value: object) -> int | None:
    """The 64-bit size, which drivers write as a number or as eight bytes."""
    if isinstance(value, bytes):
        value = int.from_bytes(value[:8], "little")
    return value if isinstance(value, int) and value > 0 else None


def has_nvidia(host: Host) -> bool:
    """Whether the registry knows a card of NVIDIA."""
    return any(_numbers(values)[0] == NVIDIA for values in host.adapters())


def _device(index: int, values: Mapping[str, object], system: Memory, table: Table) -> Device | None:
    """None for an adapter that only shows pictures: a remote desktop's, or Windows' own."""
    vendor, number = _numbers(values)
    if vendor not in _MAKERS:
        return None
    name = str(values.get("DriverDesc") or f"{_MAKERS[vendor]} {number:04x}")
    own = Memory(MemoryKind.DEDICATED, own_bytes(values.get("HardwareInformation.qwMemorySize")), None)
    integrated = _is_integrated(vendor, number)
    memory, also = larger_first(own, _borrowed(system)) if integrated else (own, None)
    unknown = Cause("card.memory_unknown", {"name": name})
    return Device(
        id=f"display{index}",
        vendor=_MAKERS[vendor],
        name=name,
        memory=memory,
        driver=str(values["DriverVersion"]) if "DriverVersion" in values else None,
        bandwidth=table.of(name, None if integrated else own.total_bytes),
        problems=(unknown,) if memory.total_bytes is None else (),
        integrated=integrated,
        also=also,
    )


def _numbers(values: Mapping[str, object]) -> tuple[int, int]:
    match = _NUMBERS.match(str(values.get("MatchingDeviceId", "")))
    return (int(match[1], 16), int(match[2], 16)) if match else (0, 0)


def _is_integrated(vendor: int, number: int) -> bool:
    if vendor == INTEL:
        return not is_discrete(PciCard("", vendor, number))
    return vendor == AMD and number in INTEGRATED


def _borrowed(system: Memory) -> Memory:
    if system.total_bytes is None:
        return Memory(MemoryKind.SHARED, None, None)
    usable = system.total_bytes // 2
    available = None if system.available_bytes is None else min(system.available_bytes, usable)
    return Memory(MemoryKind.SHARED, system.total_bytes, available, usable, Basis.ESTIMATE)
