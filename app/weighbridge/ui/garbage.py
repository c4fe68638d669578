"""Cyclic garbage is collected on the GUI thread alone, and while the window is at rest.

Python collects on whatever thread happens to allocate. A widget in a cycle would then be destroyed by a thread of the
pool, which Qt does not allow: the program hangs or crashes, seldom and anywhere.

Python also collects when it likes. All that thousands of models hold takes 300 ms to look through, which is seen where
a slider moves. So while there is work only what is new is collected, which is little as it is done often. The old waits
until nobody has done anything for some seconds, and what outlives a whole collection is left out of the next ones, but
for one in `DEEP`. Very much that is new, at once or by and by, is a listing: it stays, and is left out without a look.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

LOOK_MS = 200
REST = 0.1
"""The window is at rest where its thread has used no more of the time since the last look."""
LONG_REST_S = 5.0
"""What is old is collected after so long a rest."""
PATIENCE_S = 600.0
"""Without a rest, old garbage waits so long."""
BULK = 10_000
"""So many objects take some 10 ms to look through."""
DEEP = 20
"""One whole collection of so many looks through all that there is."""


def due(counts: tuple[int, int, int], thresholds: tuple[int, int, int]) -> int | None:
    """The oldest generation to collect now, by Python's own counts and thresholds; None where nothing is due."""
    if counts[0] <= thresholds[0]:
        return None
    if counts[1] <= thresholds[1]:
        return 0
    return 1 if counts[2] <= thresholds[2] else 2


def bearable(generation: int, rested_s: float, waited_s: float) -> int:
    """What of that is collected now, after a rest of so long (0: there is work), and so long without one."""
    if rested_s >= LONG_REST_S or waited_s >= PATIENCE_S:
        return generation
    return min(generation, 1 if rested_s > 0 else 0)


class Garbage(QObject):
    """Takes collection over from Python, from now to `close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        gc.freeze()  # what was imported stays
        self._whole = 0
        self._kept = 0  # so many objects may have outlived a look since all that there is was left out
        self._seen_s, self._used_s = time.monotonic(), time.thread_time()
        self._worked_s = self._rested_s = self._seen_s
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def close(self) -> None:
        """Give it back."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _look(self) -> None:
        if gc.get_count()[0] > BULK:
            self._leave_out()
        is_busy = self._share_used() > REST
        if is_busy:
            self._worked_s = self._seen_s
        waited_s, rested_s = self._seen_s - self._rested_s, self._seen_s - self._worked_s
        if not is_busy or waited_s >= PATIENCE_S:
            self._rested_s = self._seen_s
        generation = due(gc.get_count(), gc.get_threshold())
        if generation is not None:
            self._collect(bearable(generation, rested_s, waited_s))

    def _share_used(self) -> float:
        """How much of the time since the last look this thread has used."""
        now_s, used_s = time.monotonic(), time.thread_time()
        share = (used_s - self._used_s) / max(now_s - self._seen_s, 1e-3)
        self._seen_s, self._used_s = now_s, used_s
        return share

    def _collect(self, generation: int) -> None:
        self._kept += gc.get_count()[0]
        if generation < 2:
            self._collect_young(generation)
            return
        self._whole += 1
        is_deep = self._whole % DEEP == 0
        if is_deep:
            gc.unfreeze()
        if is_deep or self._kept <= BULK:
            gc.collect()
        self._leave_out()

    def _collect_young(self, generation: int) -> None:
        if generation and self._kept > BULK:
            self._leave_out()
        else:
            gc.collect(generation)

    def _leave_out(self) -> None:
        gc.freeze()
        self._kept = 0
