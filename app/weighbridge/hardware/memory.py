"""The system's memory: how much there is and how much could be used now, within the limits of a container."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from weighbridge.hardware import cgroup
from weighbridge.hardware.host import Host, ThisHost
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.hardware.pci import NVIDIA, cards
from weighbridge.hardware.topology import memory_without_cores

_GROUP_FILES = (
    "memory.max",
    "memory.current",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.stat",
)


def detect_memory(host: Host | None = None) -> Memory:
    """The memory of this machine, or of the container this process runs in."""
    host = host or ThisHost()
    if host.system != "Linux":
        return Memory(MemoryKind.SHARED, *host.memory())
    memory = _without_cards(host, parse_meminfo(host.text("/proc/meminfo")))
    paths = cgroup.group_paths(host.text("/proc/self/cgroup"))
    return within_limits(memory, cgroup.group_files(host, cgroup.folders(paths, "memory"), _GROUP_FILES))


def parse_meminfo(text: str) -> Memory:
    """Total and available from the text of /proc/meminfo."""
    values: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()[:1]
        if number and number[0].isdecimal():
            values[name] = int(number[0]) * 1024
    return Memory(MemoryKind.SHARED, values.get("MemTotal"), values.get("MemAvailable"))


def within_limits(memory: Memory, groups: Iterable[Mapping[str, str]]) -> Memory:
    """`memory` cut down to the smallest limit of the control groups, each given as its files by name."""
    host = memory.total_bytes
    for limit in map(cgroup.memory_limit, groups):
        if limit is not None and (host is None or limit.limit_bytes < host):
            memory = replace(
                memory,
                total_bytes=_least(memory.total_bytes, limit.limit_bytes),
                available_bytes=_least(memory.available_bytes, limit.available_bytes),
            )
    return memory


def _least(known: int | None, limit: int) -> int:
    return limit if known is None else min(known, limit)


def _without_cards(host: Host, memory: Memory) -> Memory:
    """NVIDIA's server chips (GH200, GB200) show their cards' memory as the system's too; it counts as the cards'."""
    if host.architecture != "aarch64" or memory.total_bytes is None or memory.available_bytes is None:
        return memory
    total, free = memory_without_cores(host)
    if not total or total >= memory.total_bytes or not cards(host, NVIDIA):
        return memory
    rest = memory.total_bytes - total
    return replace(memory, total_bytes=rest, available_bytes=max(0, min(rest, memory.available_bytes - free)))
