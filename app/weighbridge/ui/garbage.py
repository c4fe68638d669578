"""Cyclic garbage is collected on the GUI thread alone.

Python collects on whatever thread happens to allocate. A widget in a cycle would then be destroyed by a thread of the
pool, which Qt does not allow: the program hangs or crashes, seldom and anywhere.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_MS = 1000


def due(counts: tuple[int, int, int], thresholds: tuple[int, int, int]) -> int | None:
    """The oldest generation to collect now, by Python's own counts and thresholds; None where nothing is due."""
    if counts[0] <= thresholds[0]:
        return None
    if counts[1] <= thresholds[1]:
        return 0
    return 1 if counts[2] <= thresholds[2] else 2


class Garbage(QObject):
    """Takes collection over from Python, from now to `close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def close(self) -> None:
        """Give it back."""
        self._timer.stop()
        gc.enable()

    def _look(self) -> None:
        generation = due(gc.get_count(), gc.get_threshold())
        if generation is not None:
            gc.collect(generation)
