"""How a Linux machine is laid out: groups of cores with memory of their own (NUMA), and the last cache."""

from __future__ import annotations

import re

from weighbridge.hardware.host import Host

NODES = "/sys/devices/system/node"
CPUS = "/sys/devices/system/cpu"
_NODE = re.compile(r"node\d+")
_CPU = re.compile(r"cpu\d+")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def numa_nodes(host: Host) -> int | None:
    """How many groups of cores have memory of their own; None where the system does not tell."""
    return sum(bool(host.text(f"{NODES}/{node}/cpulist").strip()) for node in _nodes(host)) or None


def memory_without_cores(host: Host) -> tuple[int, int]:
    """Total and free bytes of those nodes that have no cores: memory of cards, or behind a slower link."""
    texts = [host.text(f"{NODES}/{node}/meminfo") for node in _nodes(host) if _is_bare(host, node)]
    return sum(_kib(text, "MemTotal") for text in texts), sum(_kib(text, "MemFree") for text in texts)


def cache_bytes(host: Host) -> int | None:
    """The largest level of cache, all its parts together; None where the system does not tell."""
    if host.system != "Linux":
        return None
    indexes = [name for name in host.names(f"{CPUS}/cpu0/cache") if name.startswith("index")]
    if not indexes:
        return None
    last = max(indexes, key=lambda index: host.text(f"{CPUS}/cpu0/cache/{index}/level"))
    parts: dict[str, int] = {}
    for cpu in host.names(CPUS):
        if _CPU.fullmatch(cpu):
            folder = f"{CPUS}/{cpu}/cache/{last}"
            shared = host.text(f"{folder}/shared_cpu_list").strip()
            parts[shared or cpu] = _size(host.text(f"{folder}/size"))
    return sum(parts.values()) or None


def _nodes(host: Host) -> list[str]:
    return [name for name in host.names(NODES) if _NODE.fullmatch(name)]


def _is_bare(host: Host, node: str) -> bool:
    return not host.text(f"{NODES}/{node}/cpulist").strip()


def _kib(text: str, name: str) -> int:
    match = re.search(rf"{name}:\s+(\d+) kB", text)
    return int(match[1]) * 1024 if match else 0


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text.strip())
    return int(match[1]) * _UNITS[match[2]] if match else 0
