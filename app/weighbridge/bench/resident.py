"""How much memory an engine's processes hold, and the most that they ever held, as the system counts it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from weighbridge.bench.result import Held

_KIB = 1024


def held_by(launcher: int | None) -> Held:
    """Of all processes below the launcher of an engine. Unknown where they are gone, or the system does not tell."""
    if launcher is None:
        return Held()
    try:
        family = psutil.Process(launcher).children(recursive=True)
        resident_bytes = sum(member.memory_info().rss for member in family)
        peaks, swaps = [_peak_bytes(member) for member in family], [_swapped_bytes(member) for member in family]
    except psutil.Error:
        return Held()
    peak_bytes = _sum(peaks)
    most_bytes = None if peak_bytes is None else max(peak_bytes, resident_bytes)  # each is counted a moment apart
    return Held(resident_bytes or None, most_bytes, swapped_bytes=_sum(swaps))


def _sum(amounts: Sequence[int | None]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known and len(known) == len(amounts) else None


def _peak_bytes(member: psutil.Process) -> int | None:
    """macOS does not tell it of another process."""
    told = getattr(member.memory_info(), "peak_wset", None)
    return int(told) if told is not None else _status_bytes(member.pid, "VmHWM")


def _swapped_bytes(member: psutil.Process) -> int | None:
    return _status_bytes(member.pid, "VmSwap")


def _status_bytes(process: int, name: str) -> int | None:
    """A figure out of what Linux tells of a process, there in KiB."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{process}/status").read_text("ascii", "replace").splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * _KIB
    return None
