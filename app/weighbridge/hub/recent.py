"""What one asker was told lately: gone as soon as another Hub is asked, or somebody else asks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

Asker = Callable[[], Hashable]
"""What decides what the Hub tells: see `access.Access.asker`."""


def anybody() -> Hashable:
    """The same for all: there is one Hub, and one who asks."""
    return None


class Recent(Generic[Key, Value]):
    """The last `most` values. From any thread. All are forgotten where `asker` gives another value than before."""

    def __init__(self, most: int, asker: Asker = anybody) -> None:
        self._most, self._asker = most, asker
        self._lock = threading.Lock()
        self._told_to: Hashable = None  # not asked for yet: where a token is looked for, that may take a while
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def asker(self) -> Hashable:
        """Who asks now; to be taken before something is asked, and given to `keep` with the answer."""
        return self._asker()

    def get(self, key: Key) -> Value | None:
        """What was kept under `key`."""
        with self._lock:
            self._forget_others()
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def keep(self, key: Key, value: Value, told_to: Hashable) -> None:
        """Keep `value`, unless it was told to another than who asks by now."""
        with self._lock:
            self._forget_others()
            if told_to != self._told_to:
                return
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def better(self, key: Key, change: Callable[[Value], Value]) -> None:
        """Put what `change` makes of the value in its place, where there is one."""
        with self._lock:
            self._forget_others()
            if key in self._values:
                self._values[key] = change(self._values[key])

    def drop(self, key: Key) -> None:
        """Keep nothing under `key`."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._values.clear()

    def _forget_others(self) -> None:
        now = self._asker()
        if now != self._told_to:
            self._told_to = now
            self._values.clear()
