"""Long work: what is done, amount, rate, time left, and Cancel."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from weighbridge.base.task import Progress, Task
from weighbridge.base.units import number, size
from weighbridge.base.words import text
from weighbridge.ui.widgets.parts import button, column, label, row

_TICK_MS = 100


class Rate:
    """The pace of growing amounts, smoothed over a few seconds. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._points: list[tuple[float, int]] = []

    def add(self, done: int) -> None:
        """Now `done` are done."""
        now = self._clock()
        self._points.append((now, done))
        while self._points[0][0] < now - 5:
            del self._points[0]

    @property
    def per_second(self) -> float | None:
        """Amount per second; None until half a second is known."""
        (first, low), (last, high) = self._points[0], self._points[-1]
        return (high - low) / (last - first) if last - first >= 0.5 else None


def amount_in_words(progress: Progress, per_second: float | None) -> str:
    """ "12.0 MiB of 93.8 MiB · 4.1 MiB/s · 20 s left"; what is not known is left out."""
    if progress.total is None:
        said = [size(progress.done)] if progress.done else []
    else:
        said = [text("{done} of {total}", done=size(progress.done), total=size(progress.total))]
    if per_second:
        said.append(f"{size(round(per_second))}/s")
        if progress.total is not None:
            left = number((progress.total - progress.done) / per_second)
            said.append(text("{seconds} s left", seconds=left))
    return " · ".join(said)


class ProgressPanel(QFrame):
    """Watches one task of bytes at a timer's pace. `cancel` is what the button does beside cancelling the task."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._task: Task | None = None
        self._rate = Rate()
        self._what = label("", "heading")
        self._amount = label("", "dim")
        self._bar = QProgressBar(textVisible=False)
        self._cancel = button(text("Cancel"), self._cancelled)
        column(row(self._what, None, self._cancel), self._bar, self._amount, owner=self, margin=3)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._look)
        self.hide()

    def watch(self, what: str, task: Task) -> None:
        """Show `what` is done, and how far, until `finish`."""
        self._task = task
        self._rate = Rate()
        self._what.setText(what)
        self._bar.setAccessibleName(what)
        self._look()
        self._timer.start()
        self.show()

    def finish(self) -> None:
        """The task ended: go away."""
        self._timer.stop()
        self._task = None
        self.hide()

    def _look(self) -> None:
        if self._task is None:
            return
        progress = self._task.progress
        self._rate.add(progress.done)
        self._bar.setRange(0, 0 if progress.fraction is None else 1000)
        self._bar.setValue(round(1000 * (progress.fraction or 0)))
        self._amount.setText(amount_in_words(progress, self._rate.per_second))

    def _cancelled(self) -> None:
        if self._task is not None:
            self._task.cancel()
