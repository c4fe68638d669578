"""SIGTERM and SIGINT as something to wait for.

Python runs a signal's handler in the main thread, between two of its own instructions; while that thread waits for a
lock or sits in Qt's loop it may run none for as long as the wait lasts, for the kernel may hand the signal to any
thread. The wake-up file descriptor is written by the C handler at once, in whatever thread: who waits on its other end
is always woken. An event that a handler sets is no way: set while the main thread is about to wait for it, it waits for
itself.
"""

from __future__ import annotations

import select
import signal
import socket
from types import FrameType, TracebackType
from typing import Self

STOPPING = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """Notes that the process was asked to end, until `close`. Make it in the main thread; one at a time."""

    def __init__(self) -> None:
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._handlers = {number: signal.signal(number, _noted) for number in STOPPING}
        self._wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._asked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def fileno(self) -> int:
        """Readable when a signal came that was not looked at yet."""
        return self._read.fileno()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether one came, now or before; waits for it `timeout_s` seconds, or without end."""
        while not self._asked and select.select([self._read], [], [], timeout_s)[0]:
            self.came()
        return self._asked

    def came(self) -> bool:
        """Whether one came since the last look; does not wait."""
        try:
            numbers = self._read.recv(64)
        except BlockingIOError:
            return False
        came = any(number in STOPPING for number in numbers)
        self._asked = self._asked or came
        return came

    def close(self) -> None:
        """Put the old handlers back."""
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._read.close()
        self._write.close()


def _noted(number: int, frame: FrameType | None) -> None:
    """The signal's number is in the wake-up socket already."""
    del number, frame
