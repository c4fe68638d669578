"""What other threads tell often, told in the GUI thread at a calm pace."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, Qt, QTimer, Signal

PACE_MS = 200


class Pulse(QObject):
    """`beat` comes soon after a `poke`, never twice within PACE_MS, and not at all where nobody pokes."""

    beat = Signal()
    _poked = Signal()

    def __init__(self, parent: QObject | None = None, pace_ms: int = PACE_MS) -> None:
        super().__init__(parent)
        self._waiting = threading.Event()
        self._stopped = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(pace_ms)
        self._rest.timeout.connect(self._rested)
        self._poked.connect(self._heard, Qt.ConnectionType.QueuedConnection)

    def poke(self, *_: object) -> None:
        """Something is new. From any thread, as often as one likes; what is told with it is left aside."""
        if not self._waiting.is_set():
            self._waiting.set()
            self._poked.emit()

    def stop(self) -> None:
        """No beat comes after this."""
        self._stopped = True
        self._waiting.set()
        self._rest.stop()

    def _heard(self) -> None:
        if not (self._stopped or self._rest.isActive()):
            self._tell()

    def _rested(self) -> None:
        if self._waiting.is_set():
            self._tell()

    def _tell(self) -> None:
        self._waiting.clear()
        self._rest.start()
        self.beat.emit()
