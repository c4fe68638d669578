"""How long a download waits: between two attempts, and for its share of the speed that all together may have."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from weighbridge.base.errors import Unreachable, WeighbridgeError
from weighbridge.base.task import Task

FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 60.0
WINDOW_S = 4.0
"""Over how long a speed is taken."""

BURST_S = 0.25
"""What was not used of the allowed speed is kept for so long."""


def asked_wait_s(error: BaseException) -> float | None:
    """For how many seconds the Hub asks to be left alone; None where `error` is of another kind."""
    if not isinstance(error, WeighbridgeError) or error.code != "hub.rate_limit":
        return None
    seconds = error.values.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else None


def wait_s(attempt: int, error: Unreachable) -> float:
    """Seconds before the attempt after attempt number `attempt`, from 1, that ended with `error`: 0.2, 0.4, ... 60; as
    long as the Hub asks for where it limits how often it is asked.
    """
    asked_s = asked_wait_s(error)
    if asked_s is not None:
        return max(FIRST_WAIT_S, asked_s)
    return float(min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(attempt - 1, 20)))


@dataclass(frozen=True)
class Bucket:
    """A token bucket: bytes may pass at `rate_bytes_s` on average. `paid_until` is when all that passed is paid for."""

    rate_bytes_s: float
    paid_until: float = -math.inf

    def take(self, count: int, now: float) -> tuple[Bucket, float]:
        """The bucket after `count` bytes at the time `now`, and how many seconds they must wait."""
        paid_until = max(self.paid_until, now - BURST_S) + count / self.rate_bytes_s
        return replace(self, paid_until=paid_until), max(0.0, paid_until - now)


class Throttle:
    """The speed that all transfers together keep to: `limit`, in bytes a second, None for any, asked at each piece."""

    def __init__(self, limit: Callable[[], float | None], clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._lock = threading.Lock()
        self._bucket: Bucket | None = None

    def take(self, count: int, task: Task) -> None:
        """Wait until `count` bytes may pass. Raises Cancelled."""
        limit = self._limit()
        if not limit:
            return
        with self._lock:
            bucket = self._bucket if self._bucket is not None else Bucket(limit)
            self._bucket, delay_s = replace(bucket, rate_bytes_s=limit).take(count, self._clock())
        if delay_s:
            task.wait(delay_s)


class Meter:
    """The speed of something over the last seconds: told the total now and then, asked at any time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def tell(self, total_bytes: int) -> None:
        """The total so far; one that is smaller than before begins anew."""
        now = self._clock()
        if self._seen and total_bytes < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now, total_bytes))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_S:
            self._seen.popleft()

    @property
    def bytes_s(self) -> float | None:
        """Bytes a second; None before there is anything to tell it by."""
        if len(self._seen) < 2 or self._seen[-1][0] <= self._seen[0][0]:
            return None
        (first_s, first), (last_s, last) = self._seen[0], self._seen[-1]
        return (last - first) / (last_s - first_s)
