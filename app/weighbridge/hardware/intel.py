"""Intel graphics on Linux, from what the drivers `i915` and `xe` keep in sysfs.

A discrete card's memory stands in `tileN/physical_vram_size_bytes` (xe) or in `lmem_total_bytes` (i915 as Intel builds
it for servers). The i915 of plain kernels tells nowhere: then the size is the product's, by PCI number, where there is
but one, or where the window through which the processor sees the memory decides between several.
"""

from __future__ import annotations

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.host import Host
from weighbridge.hardware.machine import Basis, Device, Found, Memory, MemoryKind
from weighbridge.hardware.names import listed_name
from weighbridge.hardware.pci import INTEL, PciCard, access_problem, cards, number, sensors
from weighbridge.hardware.rows import GIB
from weighbridge_engines.api import Cause

_DRIVERS = ("i915", "xe")
_DISCRETE = ((0x0BD0, 0x0BDB), (0x4905, 0x4909), (0x5690, 0x56C2), (0xE202, 0xE2FF))
"""PCI device numbers of Ponte Vecchio, DG1, Alchemist and Battlemage."""
_SMALL_WINDOW_BYTES = 512 << 20
"""A window of up to half a GiB says nothing of the memory behind it: it is the size without "resizable BAR"."""


def find_intel(host: Host, system: Memory, table: Table) -> Found:
    """The Intel cards and graphics parts. `system` is the memory that the latter borrow."""
    found = [_look(host, index, card, system, table) for index, card in enumerate(cards(host, INTEL))]
    devices = tuple(one for one in found if isinstance(one, Device))
    return Found(devices, tuple(one for one in found if isinstance(one, Cause)))


def _look(host: Host, index: int, card: PciCard, system: Memory, table: Table) -> Device | Cause:
    name = table.name_of(card.vendor, card.device, card.revision) or listed_name(host, card)
    name = name or f"Intel {card.device:04x}"
    if card.driver not in _DRIVERS:
        return Cause("card.no_driver", {"name": name, "driver": card.driver or "-"})
    integrated = not is_discrete(card)
    memory = borrowed(system) if integrated else Memory(MemoryKind.DEDICATED, _own_bytes(host, card, table), None)
    problems = [access_problem(host, card, name)]
    if memory.total_bytes is None:
        problems.append(Cause("card.memory_unknown", {"name": name}))
    return Device(
        id=f"intel{index}",
        vendor="intel",
        name=name,
        memory=memory,
        driver=f"{card.driver} {host.release}",
        pci_id=card.slot,
        bandwidth=table.of(name, None if integrated else memory.total_bytes),
        problems=tuple(problem for problem in problems if problem is not None),
        integrated=integrated,
        sensors=sensors(host, card),
    )


def is_discrete(card: PciCard) -> bool:
    """Whether the card has memory of its own."""
    return any(low <= card.device <= high for low, high in _DISCRETE)


def borrowed(system: Memory) -> Memory:
    """What a graphics part may take of the system's memory.

    Mesa's Vulkan driver allows three quarters, or half where there is little (anv_device.c, compute_heap_size).
    """
    total = system.total_bytes
    if total is None:
        return Memory(MemoryKind.SHARED, None, None)
    usable = total // 2 if total <= 4 * GIB else total * 3 // 4
    available = None if system.available_bytes is None else min(system.available_bytes, usable)
    return Memory(MemoryKind.SHARED, total, available, usable, Basis.ESTIMATE)


def _own_bytes(host: Host, card: PciCard, table: Table) -> int | None:
    tiles = [name for name in host.names(card.folder) if name.startswith("tile")]
    sizes = [number(host, f"{card.folder}/{tile}/physical_vram_size_bytes") for tile in tiles]
    if told := sum(size for size in sizes if size is not None):
        return told
    for folder in (card.drm_folder, card.folder):
        if folder and (told := number(host, f"{folder}/lmem_total_bytes") or 0):
            return told
    return _by_number(table.sizes_of(card.vendor, card.device), window_bytes(host.text(f"{card.folder}/resource")))


def _by_number(sizes: list[int], window: int) -> int | None:
    """The one size that a product has, or the one that fits the window: it is as wide as the memory, rounded up."""
    if len(sizes) == 1:
        return sizes[0]
    if window <= _SMALL_WINDOW_BYTES:
        return None
    return max((size for size in sizes if size <= window), default=None)


def window_bytes(resource: str) -> int:
    """The largest window of a PCI device, from the lines "start end flags" of its `resource` file; 0 for none."""
    sizes = [0]
    for line in resource.splitlines():
        try:
            start, end = (int(number, 16) for number in line.split()[:2])
        except ValueError:
            continue
        sizes.append(end - start + 1 if end else 0)
    return max(sizes)
