"""SIGTERM and SIGINT end the window as its close button does.

Python runs a signal's handler only between two of its own instructions, and Qt's loop may not run any for minutes. The
wake-up file descriptor is written by the C handler at once; a notifier of the loop reads it.
"""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal

_ENDING = (signal.SIGTERM, signal.SIGINT)


class Ending(QObject):
    """Emits `asked` when the process is asked to end. Make it in the main thread."""

    asked = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)
        self._handlers = {number: signal.signal(number, _noted) for number in _ENDING}
        self._wakeup = signal.set_wakeup_fd(self._write.fileno())

    def close(self) -> None:
        """Put the old handlers back."""
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._notifier.setEnabled(False)
        self._read.close()
        self._write.close()

    def _woken(self) -> None:
        if any(byte in _ENDING for byte in self._read.recv(64)):
            self.asked.emit()


def _noted(number: int, frame: FrameType | None) -> None:
    """The signal's number is in the wake-up socket already."""
    del number, frame
