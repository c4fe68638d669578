"""What a container allows: the control groups of Linux, versions 1 and 2, as pure functions over their files' text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge.hardware.host import Host

ROOT = Path("/sys/fs/cgroup")
_RECLAIMABLE = ("inactive_file", "active_file", "slab_reclaimable")
_RECLAIMABLE_V1 = ("total_inactive_file", "total_active_file")


@dataclass(frozen=True)
class MemoryLimit:
    """A group's limit and what of it could still be used: pages of files can be given back, so they do not count."""

    limit_bytes: int
    available_bytes: int


def group_paths(text: str) -> Mapping[str, str]:
    """The group of a process for each controller, from /proc/self/cgroup; the key "" is version 2."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if colon:
            paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def folders(paths: Mapping[str, str], controller: str, root: Path = ROOT) -> Iterator[Path]:
    """The folders whose limits apply: the group's and all above it.

    Inside a container the path may name a folder that is not there, so the root is always among them.
    """
    for base, path in ((root, paths.get("")), (root / controller, paths.get(controller))):
        if path is not None:
            group = base / path.strip("/")
            yield group
            yield from (above for above in group.parents if above == base or base in above.parents)


def group_files(host: Host, groups: Iterable[Path], names: Iterable[str]) -> Iterator[Mapping[str, str]]:
    """Of each group's folder the texts of those files that can be read, by name."""
    wanted = tuple(names)
    for group in groups:
        texts = {name: host.text((group / name).as_posix()).strip() for name in wanted}
        yield {name: text for name, text in texts.items() if text}


def memory_limit(files: Mapping[str, str]) -> MemoryLimit | None:
    """The memory limit that a group's files tell, by name; None where there is none."""
    limit = _number(files.get("memory.max", files.get("memory.limit_in_bytes", "")))
    usage = _number(files.get("memory.current", files.get("memory.usage_in_bytes", "")))
    if limit is None or usage is None:
        return None
    stat = dict(line.split(None, 1) for line in files.get("memory.stat", "").splitlines() if " " in line)
    names = _RECLAIMABLE_V1 if "total_inactive_file" in stat else _RECLAIMABLE
    reclaimable = sum(_number(stat.get(name, "")) or 0 for name in names)
    return MemoryLimit(limit, max(0, limit - max(0, usage - reclaimable)))


def cpu_limit(files: Mapping[str, str]) -> float | None:
    """How many processors a group's files allow; None for no limit."""
    quota, _, period = files.get("cpu.max", "").partition(" ")
    if not quota:
        quota, period = files.get("cpu.cfs_quota_us", ""), files.get("cpu.cfs_period_us", "")
    allowed, each = _number(quota), _number(period)
    return allowed / each if allowed and each else None


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None
