"""How often one may ask."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter

from tests.fake_hub.exchange import Answer, refusal


class Limits:
    """`limits["api"] = 500`: so many requests of a kind ("api", "resolvers") are answered in a window of `seconds`."""

    def __init__(self) -> None:
        self.seconds = 300.0
        self._allowed: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._since = time.monotonic()
        self._lock = threading.Lock()

    def __setitem__(self, resource: str, allowed: int) -> None:
        self._allowed[resource] = allowed

    def spend(self, resource: str) -> tuple[dict[str, str], bool]:
        """Counts a request. The headers that say how it stands, and whether it was one too many."""
        allowed = self._allowed.get(resource)
        if allowed is None:
            return {}, False
        with self._lock:
            if time.monotonic() >= self._since + self.seconds:
                self._since = time.monotonic()
                self._counts.clear()
            self._counts[resource] += 1
            left = allowed - self._counts[resource]
            wait = math.ceil(self._since + self.seconds - time.monotonic())
        return standing(resource, max(0, left), wait, allowed, self.seconds), left < 0


def standing(resource: str, left: int, wait_s: int, allowed: int = 500, window_s: float = 300) -> dict[str, str]:
    """The headers by which the Hub tells how many requests are left, and for how long that holds."""
    return {
        "RateLimit": f'"{resource}";r={left};t={wait_s}',
        "RateLimit-Policy": f'"fixed window";"{resource}";q={allowed};w={math.ceil(window_s)}',
    }


def too_many(headers: dict[str, str]) -> Answer:
    """The refusal of one request too many."""
    return refusal(429, None, "Too Many Requests", headers)
