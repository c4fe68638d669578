"""AMD cards on Linux, from what the `amdgpu` driver keeps in sysfs (kernel documentation, "AMDGPU driver, misc").

`mem_info_vram_*` is a card's own memory, or what the firmware has carved out of the system's for a processor's graphics
part; `mem_info_gtt_*` is what may be borrowed of the system's besides. The two are kept apart and never added.
"""

from __future__ import annotations

from weighbridge.hardware.amd_smi import told_names
from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.host import Host
from weighbridge.hardware.machine import Basis, Device, Found, Memory, MemoryKind
from weighbridge.hardware.names import amd_name, listed_name
from weighbridge.hardware.pci import AMD, PciCard, access_problem, cards, number, sensors
from weighbridge_engines.api import Cause

GIB = 1 << 30
INTEGRATED = frozenset(
    {0x1309, 0x130A, 0x130B, 0x130C, 0x130D, 0x130E, 0x130F, 0x1313, 0x1315, 0x1316, 0x1318, 0x131B, 0x131C, 0x131D}
    | {0x9870, 0x9874, 0x9875, 0x9876, 0x9877, 0x98E4, 0x15DD, 0x15D8, 0x1636, 0x1638, 0x164C, 0x15E7}
    | {0x163F, 0x1435, 0x13FE, 0x143F, 0x164D, 0x1681, 0x1506, 0x164E, 0x13C0, 0x13E9}
    | {0x15BF, 0x15C8, 0x1900, 0x1901, 0x150E, 0x1586, 0x1114}
)
"""Graphics parts of processors, from Kaveri to Strix Halo and Krackan, by PCI device number."""


def find_amd(host: Host, system: Memory, table: Table) -> Found:
    """The AMD cards and graphics parts. `system` is the memory that the latter borrow."""
    found = [_look(host, index, card, system, table) for index, card in enumerate(cards(host, AMD))]
    devices = tuple(one for one in found if isinstance(one, Device))
    return Found(devices, tuple(one for one in found if isinstance(one, Cause)))


def _look(host: Host, index: int, card: PciCard, system: Memory, table: Table) -> Device | Cause:
    name = _name(host, card, table)
    if card.driver != "amdgpu":
        return Cause("card.no_driver", {"name": name, "driver": card.driver or "-"})
    own = pool(host, card, "vram", MemoryKind.DEDICATED)
    borrowed = borrowed_pool(host, card, system)
    integrated = is_integrated(host, card)
    memory, also = (own, None) if not integrated else larger_first(own, borrowed)
    problems = [access_problem(host, card, name)]
    if memory.total_bytes is None:
        problems.append(Cause("card.memory_unknown", {"name": name}))
    if integrated and memory.kind is MemoryKind.DEDICATED and system.total_bytes is not None:
        sizes = {"own_gib": _gib(memory.total_bytes), "system_gib": _gib(system.total_bytes)}
        problems.append(Cause("card.carved_out", {"name": name, **sizes}))
    return Device(
        id=f"amd{index}",
        vendor="amd",
        name=name,
        memory=memory,
        driver=f"amdgpu {host.release}",
        pci_id=card.slot,
        bandwidth=table.of(name, own.total_bytes),
        problems=tuple(problem for problem in problems if problem is not None),
        integrated=integrated,
        also=also,
        sensors=sensors(host, card),
    )


def is_integrated(host: Host, card: PciCard) -> bool:
    """Whether the card is a part of the processor.

    Of newer parts that the list lacks, only these tell the voltage of the memory controller ("vddnb" in hwmon).
    """
    if card.device in INTEGRATED:
        return True
    monitors = f"{card.folder}/hwmon"
    return any(host.text(f"{monitors}/{name}/in1_label").strip() == "vddnb" for name in host.names(monitors))


def larger_first(own: Memory, borrowed: Memory) -> tuple[Memory, Memory | None]:
    """The pool that a processor's graphics part works in, and the other one."""
    if not own.total_bytes:
        return borrowed, None
    room = borrowed.usable_bytes or 0
    return (own, borrowed) if own.total_bytes >= room else (borrowed, own)


def _name(host: Host, card: PciCard, table: Table) -> str:
    told = host.text(f"{card.folder}/product_name").strip()
    known = table.name_of(card.vendor, card.device, card.revision)
    name = told or amd_name(host, card) or known or listed_name(host, card)
    return name or told_names(host).get(card.slot) or f"AMD {card.device:04x}"


def pool(host: Host, card: PciCard, name: str, kind: MemoryKind) -> Memory:
    """The pool "vram" or "gtt" of a card, as its driver tells."""
    total = number(host, f"{card.folder}/mem_info_{name}_total") or None
    used = number(host, f"{card.folder}/mem_info_{name}_used")
    return Memory(kind, total, max(0, total - used) if total is not None and used is not None else None)


def borrowed_pool(host: Host, card: PciCard, system: Memory) -> Memory:
    """What may be borrowed of the system's memory: the driver sets a limit, and the system must have it to spare."""
    limit = pool(host, card, "gtt", MemoryKind.SHARED)
    frees = [free for free in (limit.available_bytes, system.available_bytes) if free is not None]
    return Memory(
        MemoryKind.SHARED,
        system.total_bytes,
        min(frees, default=None),
        usable_bytes=limit.total_bytes,
        usable_basis=Basis.TOLD if limit.total_bytes is not None else None,
    )


def lent_by_default(system: Memory) -> Memory:
    """What may be borrowed where nobody has set a limit: half of the memory (amdgpu_ttm.c, `gtt_size`)."""
    total = system.total_bytes
    if total is None:
        return Memory(MemoryKind.SHARED, None, None)
    available = None if system.available_bytes is None else min(system.available_bytes, total // 2)
    return Memory(MemoryKind.SHARED, total, available, total // 2, Basis.ESTIMATE)


def _gib(size_bytes: int | None) -> int:
    return round((size_bytes or 0) / GIB)
