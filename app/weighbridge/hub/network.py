"""What the program asked of the network: one line a request, never a header, a token or the query of an address."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

MOST = 2_000
CANCELLED = "cancelled"
"""The `error` of a request that the user gave up: nothing broke it."""


@dataclass(frozen=True)
class Request:
    """One request: whom, why, and what came of it.

    `purpose` is a short untranslated word ("repository", "branches", "file", "search", "token", "package index",
    "endpoint").
    `when` counts seconds since 1970. While it runs, `seconds` is None. `status` is None until there is an answer, and
    `received_bytes`, of the body, until its end. `error` is the code of what broke it, or
    CANCELLED.
    """

    number: int
    host: str
    purpose: str
    method: str
    when: float
    status: int | None = None
    received_bytes: int | None = None
    seconds: float | None = None
    error: str | None = None


class NetworkLog:
    """The last requests of this process, from any thread; older ones are forgotten."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._requests: OrderedDict[int, Request] = OrderedDict()
        self._listeners: list[Callable[[Request], None]] = []
        self._count = 0

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests, oldest first."""
        with self._lock:
            return tuple(self._requests.values())

    @property
    def count(self) -> int:
        """How many there were, with those that are forgotten."""
        with self._lock:
            return self._count

    def begin(self, host: str, purpose: str, method: str = "GET") -> Line:
        """A request that is about to be sent; tell the rest to what this returns."""
        with self._lock:
            self._count += 1
            request = Request(self._count, host, purpose, method, time.time())
        self.keep(request)
        return Line(self, request)

    def keep(self, request: Request) -> None:
        """Put a request in the place of the one with its number."""
        with self._lock:
            if request.number <= self._count - self._most:
                return
            self._requests[request.number] = request
            if len(self._requests) > self._most:
                self._requests.popitem(last=False)
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(request)

    def clear(self) -> None:
        """Forget the requests that are over."""
        with self._lock:
            over = [number for number, request in self._requests.items() if request.seconds is not None]
            for number in over:
                del self._requests[number]

    def subscribe(self, listener: Callable[[Request], None]) -> Callable[[], None]:
        """Have `listener` called at each beginning, answer and end, in the thread that asks. Returns what ends that."""
        with self._lock:
            self._listeners.append(listener)

        def leave() -> None:
            with self._lock:
                self._listeners.remove(listener)

        return leave


class Line:
    """A request under way, as its log is told of it."""

    def __init__(self, log: NetworkLog, request: Request) -> None:
        self._log = log
        self._request = request
        self._began = time.monotonic()

    def answered(self, status: int) -> None:
        """There is an answer."""
        self._request = replace(self._request, status=status)
        self._log.keep(self._request)

    def ended(self, received_bytes: int | None, error: str | None = None) -> None:
        """It is over. What is said after the first end does not count."""
        if self._request.seconds is None:
            seconds = time.monotonic() - self._began
            self._request = replace(self._request, received_bytes=received_bytes, seconds=seconds, error=error)
            self._log.keep(self._request)
