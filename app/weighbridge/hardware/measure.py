"""How fast the processor reads memory, measured in under three seconds.

Each thread reads a buffer of its own from end to end, all at the same time, as an engine reads weights. The buffers
together are several times as large as the last cache, and each is filled by the thread that reads it, so that it lies
in the memory near that thread's core. numpy lets other threads run while it reads.
"""

from __future__ import annotations

import statistics
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1 << 20
READ_S = 1.5
"""How long is read, after the buffers are filled."""
LEAST_ROUNDS = 3
_CACHES = 4
_LEAST_BYTES = 256 * MIB
_MOST_BYTES_A_THREAD = 256 * MIB
_MOST_SHARE = 4
"""At most a quarter of the memory that is free now is used for buffers."""


@dataclass
class _Rounds:
    """When each thread began and ended each round; the barrier decides between rounds whether there is another."""

    threads: int
    until: float | None = None
    done: int = 0
    over: bool = False
    spans: list[tuple[int, float, float]] = field(default_factory=list)

    def next(self) -> None:
        """Called by one thread while all wait."""
        now = time.perf_counter()
        if self.until is None:
            self.until = now + READ_S
        self.over = self.done >= LEAST_ROUNDS and now >= self.until
        self.done += 1


def measured_gbs(threads: int, cache_bytes: int | None, available_bytes: int | None) -> float | None:
    """GB/s (1e9 bytes a second) that `threads` threads read together: the upper quartile of the rounds.

    A round in which another program took a core waits for its last thread and tells of that program, not of the memory;
    the very best round may be a slip of the clock.
    None where memory is too short for buffers that no cache could hold.
    """
    size = buffer_bytes(threads, cache_bytes, available_bytes)
    if size is None:
        return None
    rounds = _Rounds(threads)
    barrier = threading.Barrier(threads, action=rounds.next)
    workers = [
        threading.Thread(target=_read, args=(size, rounds, barrier), name=f"bandwidth {number}")
        for number in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    speeds = [threads * size / seconds / 1e9 for seconds in _seconds(rounds)]
    return statistics.quantiles(speeds, n=4, method="inclusive")[2] if len(speeds) > 1 else None


def buffer_bytes(threads: int, cache_bytes: int | None, available_bytes: int | None) -> int | None:
    """Bytes for each thread; None where the memory is too short."""
    wanted = max(_LEAST_BYTES, _CACHES * (cache_bytes or 0)) // threads
    most = _MOST_BYTES_A_THREAD if available_bytes is None else available_bytes // _MOST_SHARE // threads
    size = min(wanted, most, _MOST_BYTES_A_THREAD) // MIB * MIB
    return size if size * threads >= 2 * (cache_bytes or 16 * MIB) else None


def _seconds(rounds: _Rounds) -> list[float]:
    """How long each complete round took, from the first thread's start to the last one's end; the first warms up."""
    by_round: dict[int, list[tuple[float, float]]] = {}
    for number, start, end in rounds.spans:
        by_round.setdefault(number, []).append((start, end))
    complete = [spans for number, spans in sorted(by_round.items()) if len(spans) == rounds.threads]
    return [max(end for _, end in spans) - min(start for start, _ in spans) for spans in complete[1:]]


def _read(size: int, rounds: _Rounds, barrier: threading.Barrier) -> None:
    import numpy

    try:
        buffer = numpy.ones(size // 8, numpy.uint64)
        _rounds(lambda: numpy.bitwise_or.reduce(buffer), rounds, barrier)
    except (MemoryError, threading.BrokenBarrierError):
        barrier.abort()


def _rounds(read: Callable[[], Any], rounds: _Rounds, barrier: threading.Barrier) -> None:
    while True:
        barrier.wait()
        if rounds.over:
            return
        number, start = rounds.done, time.perf_counter()
        read()
        rounds.spans.append((number, start, time.perf_counter()))
