"""How many more calls the Hub allows, as it tells with each answer: `RateLimit: "api";r=489;t=240`."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

API, FILES = "api", "resolvers"
"""The Hub's words for what it counts apart: what is asked about repositories, and where their files are."""

_MOST_LETTERS = 400
_LONGEST_S = 3_600
_STANDING = re.compile(r'"(\w{1,40})"\s*;\s*r\s*=\s*(\d{1,9})\s*;\s*t\s*=\s*(\d{1,9})(?!\d)', re.ASCII)
_POLICY = re.compile(r'"(\w{1,40})"\s*;\s*q\s*=\s*(\d{1,9})\s*;\s*w\s*=\s*\d', re.ASCII)


@dataclass(frozen=True)
class Allowance:
    """So many calls of a `kind` are left until `resets_at`, of the monotonic clock in seconds. `limit`: how many there
    are in all, None where that is untold.
    """

    kind: str
    remaining: int
    resets_at: float
    limit: int | None = None


def may_spend(allowance: Allowance | None, calls: int, reserve: int = 0) -> bool:
    """Whether `calls` more leave `reserve` for what the user will ask next. What is not known forbids nothing."""
    return allowance is None or allowance.remaining - calls >= reserve


class Allowances:
    """What one Hub allows one user. Told by its transport, read by anybody, from any thread. `clock`: monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told: dict[str, Allowance] = {}

    def hear(self, headers: Mapping[str, str]) -> None:
        """What an answer says of it; one that says nothing changes nothing. Names of headers are in small letters."""
        limits = {kind: int(limit) for kind, limit in _POLICY.findall(_short(headers.get("ratelimit-policy", "")))}
        now = self._clock()
        for kind, remaining, seconds in _STANDING.findall(_short(headers.get("ratelimit", ""))):
            resets_at = now + min(int(seconds), _LONGEST_S)
            with self._lock:
                self._told[kind] = Allowance(kind, int(remaining), resets_at, limits.get(kind))

    def of(self, kind: str = API) -> Allowance | None:
        """What is allowed now; None where it was not told, or its time is over."""
        with self._lock:
            told = self._told.get(kind)
        return told if told is not None and told.resets_at > self._clock() else None

    def left_s(self, kind: str = API) -> float:
        """How long what is told now will hold; 0 where nothing is."""
        told = self.of(kind)
        return 0.0 if told is None else max(0.0, told.resets_at - self._clock())

    def wait_s(self, kind: str = API) -> float:
        """How long until one more call is allowed; 0 where one is now, as far as is known."""
        told = self.of(kind)
        return 0.0 if told is None or told.remaining > 0 else max(0.0, told.resets_at - self._clock())


def _short(header: str) -> str:
    return header if len(header) <= _MOST_LETTERS else ""
