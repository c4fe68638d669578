"""How busy the processor is: the share of its time that was not idle since the last look."""

from __future__ import annotations

from collections.abc import Callable


class ProcessorLoad:
    """`times()` gives the seconds that all cores were busy, and in all, since the start of the machine."""

    def __init__(self, times: Callable[[], tuple[float, float]] | None = None) -> None:
        self._times = times or processor_times
        self._last: tuple[float, float] | None = None

    def now(self) -> float | None:
        """0 to 1 since the last call; None at the first one, or where no time has passed."""
        before, self._last = self._last, self._times()
        return None if before is None else load_between(before, self._last)


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
