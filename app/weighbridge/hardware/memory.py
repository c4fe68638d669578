"""The system's memory: how much there is and how much could be used now, within the limits of a container."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from weighbridge.hardware import cgroup
from weighbridge.hardware.machine import Memory, MemoryKind
from weighbridge.hardware.read import read_files, read_text

_GROUP_FILES = (
    "memory.max",
    "memory.current",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.stat",
)


def detect_memory() -> Memory:
    """The memory of this machine, or of the container this process runs in."""
    if not sys.platform.startswith("linux"):
        return _portable_memory()
    memory = parse_meminfo(read_text(Path("/proc/meminfo")))
    paths = cgroup.group_paths(read_text(Path("/proc/self/cgroup")))
    groups = (read_files(folder, _GROUP_FILES) for folder in cgroup.folders(paths, "memory"))
    return within_limits(memory, groups)


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


def _portable_memory() -> Memory:
    import psutil

    memory = psutil.virtual_memory()
    return Memory(MemoryKind.SHARED, memory.total, memory.available)
