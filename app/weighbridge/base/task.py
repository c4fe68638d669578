"""Work that can be watched and cancelled, from any thread, without Qt.

A worker calls `task.step(...)`; whoever watches reads `task.progress`, an immutable value, as often as it likes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from weighbridge.base.errors import Cancelled


@dataclass(frozen=True)
class Progress:
    """How far a task is: `done` of `total` bytes or pieces (None where unknown), and a short untranslated `note`."""

    done: int = 0
    total: int | None = None
    note: str = ""

    @property
    def fraction(self) -> float | None:
        """0.0 to 1.0, or None where the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None


class Task:
    """One piece of work: its progress, and the wish to cancel it."""

    def __init__(self) -> None:
        self.progress = Progress()
        self._cancelled = threading.Event()
        self._on_cancel: Callable[[], None] | None = None

    def step(self, done: int, total: int | None = None, note: str = "") -> None:
        """Tell how far the work is. Raises Cancelled where the user asked to stop."""
        self.progress = Progress(done, total, note)
        self.check()

    def check(self) -> None:
        """Raise Cancelled where the user asked to stop."""
        if self._cancelled.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Sleep, unless the user asks to stop meanwhile. Raises Cancelled."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    def cancel(self) -> None:
        """Ask the work to stop; it does so at its next step, or at once where it told `on_cancel` how."""
        self._cancelled.set()
        act = self._on_cancel  # once: the worker may take it back meanwhile
        if act is not None:
            act()

    def on_cancel(self, act: Callable[[], None] | None) -> None:
        """What to do at a cancel, from the cancelling thread, beside the flag (close a socket). None: nothing more."""
        self._on_cancel = act
        if act is not None and self._cancelled.is_set():
            act()

    @property
    def cancelled(self) -> bool:
        """True once `cancel` was called."""
        return self._cancelled.is_set()
