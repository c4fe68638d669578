"""Waiting for a call that cannot be ended, of the network or of a drive, no moment longer than the user wants to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task

T = TypeVar("T")


def abandonable(act: Callable[[], T], undo: Callable[[T], None], task: Task) -> T:
    """What `act` returns or raises. Raises Cancelled at once where `task` is cancelled meanwhile; what `act` then still
    comes to is given to `undo`.
    """
    return _Call(act, undo).wait(task)


class _Call(threading.Thread, Generic[T]):
    """`act` on a thread of its own: connecting can take as long as a time-out, a drive that is away for ever."""

    def __init__(self, act: Callable[[], T], undo: Callable[[T], None]) -> None:
        super().__init__(name="abandonable", daemon=True)
        self._act, self._undo = act, undo
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._abandoned = False
        self._results: list[T] = []
        self._fault: BaseException | None = None

    def wait(self, task: Task) -> T:
        """The result."""
        self.start()
        task.on_cancel(self._woken.set)
        try:
            self._woken.wait()
        finally:
            task.on_cancel(None)
        with self._lock:
            if self._fault is not None:
                raise self._fault
            if self._results:
                return self._results[0]
            self._abandoned = True
        raise Cancelled

    def run(self) -> None:
        try:
            result = self._act()
        except BaseException as error:
            self._fault = error
            self._woken.set()
            return
        with self._lock:
            self._results.append(result)
            abandoned = self._abandoned
        self._woken.set()
        if abandoned:
            self._undo(result)
