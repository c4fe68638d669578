"""SIGTERM and SIGINT end the window as its close button does."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSocketNotifier, Signal

from weighbridge.base.stop_signals import StopSignals


class Ending(QObject):
    """Emits `asked` when the process is asked to end. Make it in the main thread."""

    asked = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._signals = StopSignals()
        self._notifier = QSocketNotifier(self._signals.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)

    def close(self) -> None:
        """Put the old handlers back."""
        self._notifier.setEnabled(False)
        self._signals.close()

    def _woken(self) -> None:
        if self._signals.came():
            self.asked.emit()
