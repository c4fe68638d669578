"""Looking at the Library's folders again, one scan at a time, and then reading what headers are still missing."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from weighbridge.base.task import Task
from weighbridge.ui.services import Services


class Scanning(QObject):
    """`scanned` tells that models are listed anew, `failed` why they are not; where a scan was asked for meanwhile, the
    next one runs by then.
    """

    scanned = Signal()
    failed = Signal(object)

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._scan: Task | None = None
        self._again = False
        self._reading: Task | None = None

    @property
    def running(self) -> bool:
        """Whether a scan goes on."""
        return self._scan is not None

    def start(self) -> None:
        """Look; where a scan goes on, once more after it: what changed meanwhile may have been looked at already."""
        if self._scan is not None:
            self._again = True
        else:
            self._scan = self._services.background.run(self._services.library.scan, self._scanned, self._failed)

    def cancel(self) -> None:
        """Give up a scan, and reading."""
        for task in (self._scan, self._reading):
            if task is not None:
                task.cancel()

    def _scanned(self, models: object) -> None:
        del models
        self._end()
        if self._scan is None:
            self._read()
        self.scanned.emit()

    def _failed(self, error: BaseException) -> None:
        self._end()
        self.failed.emit(error)

    def _end(self) -> None:
        self._scan = None
        again, self._again = self._again, False
        if again:
            self.start()

    def _read(self) -> None:
        """The whole headers, one after the other, while nobody waits."""
        if self._reading is not None:
            self._reading.cancel()
        library = self._services.library
        self._reading = self._services.background.stream(library.read_all, _ignore, _ignore, "headers")


def _ignore(value: object) -> None:
    """What was read is told by the library."""
    del value
