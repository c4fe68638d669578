"""The last lines of an engine's output."""

from __future__ import annotations

import threading
from collections import deque

LINE_LIMIT = 2000


class LogRing:
    """Keeps the last `capacity` lines; written by one thread, read by any. Long lines are cut."""

    def __init__(self, capacity: int = 500) -> None:
        self._lines: deque[str] = deque(maxlen=capacity)
        self._lock = threading.Lock()

    def add(self, line: str) -> None:
        """Add one line, cut at LINE_LIMIT characters."""
        with self._lock:
            self._lines.append(line[:LINE_LIMIT])

    def lines(self) -> tuple[str, ...]:
        """All lines kept, oldest first."""
        with self._lock:
            return tuple(self._lines)

    def tail(self, count: int = 30) -> tuple[str, ...]:
        """The last `count` lines."""
        return self.lines()[-count:]
