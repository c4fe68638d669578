"""The event loop of a benchmark that drives the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QTimer

LOOK_MS = 50


def run_until(true: Callable[[], bool], seconds: float = 300.0) -> None:
    """Run the event loop until `true()`, looking every 50 ms; fail after `seconds`."""
    loop = QEventLoop()
    look = QTimer(interval=LOOK_MS)
    look.timeout.connect(lambda: loop.quit() if true() else None)
    look.start()
    QTimer.singleShot(int(seconds * 1000), loop, loop.quit)
    loop.exec()
    look.stop()
    assert true(), "it took too long"
