"""Who wants to be told of changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec

Told = ParamSpec("Told")


class Listeners(Generic[Told]):
    """Those who are told, in the order in which they came. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: tuple[Callable[Told, object], ...] = ()

    def add(self, listener: Callable[Told, object]) -> Callable[[], None]:
        """Have `listener` told from now on. Returns what ends that, which may be called more than once."""
        with self._lock:
            self._all = (*self._all, listener)

        def leave() -> None:
            with self._lock:
                self._all = tuple(known for known in self._all if known is not listener)

        return leave

    def tell(self, *values: Told.args, **named: Told.kwargs) -> None:
        """Call all that are here now, on this thread; no lock is held. What one raises, this raises."""
        for listener in self._all:
            listener(*values, **named)
