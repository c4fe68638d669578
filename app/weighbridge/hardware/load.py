"""How busy the processor is: the share of its time that was not idle since the last look."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_S = 0.5
"""Over a shorter time the kernel's ticks of 10 ms are seen, not the load."""


class ProcessorLoad:
    """`times()` gives the seconds that all cores were busy, and in all, since the start of the machine."""

    def __init__(
        self, times: Callable[[], tuple[float, float]] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._times = times or processor_times
        self._clock = clock
        self._last: tuple[float, float] | None = None
        self._last_s = 0.0
        self._load: float | None = None

    def now(self) -> float | None:
        """0 to 1 since the last look, which was at least LEAST_S seconds ago; None at the first call."""
        now_s = self._clock()
        if self._last is None or now_s - self._last_s >= LEAST_S:
            before, self._last, self._last_s = self._last, self._times(), now_s
            self._load = None if before is None else load_between(before, self._last)
        return self._load


def load_between(before: tuple[float, float], after: tuple[float, float]) -> float | None:
    """The load between two readings of busy and whole seconds; None where no time has passed."""
    busy, whole = after[0] - before[0], after[1] - before[1]
    return None if whole <= 0 else min(1.0, max(0.0, busy / whole))


def processor_times() -> tuple[float, float]:
    """Of this machine. What guests take counts as the user's already; waiting for a disk is idleness."""
    import psutil

    times = psutil.cpu_times()._asdict()
    whole = sum(times.values()) - times.get("guest", 0.0) - times.get("guest_nice", 0.0)
    return whole - times["idle"] - times.get("iowait", 0.0), whole
