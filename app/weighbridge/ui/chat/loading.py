"""What is seen while a model loads, or an answer waits for one: the stage or the place, the time so far, Cancel."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from weighbridge.base.units import number
from weighbridge.base.words import text
from weighbridge.choices.load_words import stage_in_words, still_in_words
from weighbridge.running.state import Running, State
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button, label, row
from weighbridge_engines.api import STAGES

LOOK_MS = 100


class LoadingRow(QFrame):
    """Hidden while nothing loads or waits. Emits `cancelled`."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._words = label("", "figure")
        self._elapsed = label("", "dim")
        self._bar = QProgressBar(textVisible=False)
        self._bar.setRange(0, len(STAGES) - 1)
        self._tenths = 0
        self._running: Running | None = None
        self._clock = QTimer(self, interval=LOOK_MS)
        self._clock.timeout.connect(self._look)
        cancel = button(text("Cancel"), self.cancelled.emit)
        line = row(self._words, self._bar, self._elapsed, cancel, owner=self, gap=4)
        line.setStretch(1, 1)
        line.setContentsMargins(4 * STEP, 2 * STEP, 2 * STEP, 2 * STEP)
        self.hide()

    def show_running(self, running: Running | None, place: int | None = None) -> None:
        """Show the load of `running`, else an answer's `place` in the queue, or go away where there is neither."""
        loading = running is not None and running.state is State.LOADING
        self._running = running
        if running is not None and loading:
            self._show_stage(running)
        elif place is not None:
            self._words.setText(text("Waiting for the model: place {place} in the queue", place=number(place)))
        else:
            self.shut()
            self.hide()
            return
        self._bar.setVisible(loading)
        if not self._clock.isActive():
            self._tenths = 0
            self._look()
            self._clock.start()
        self.show()

    def _show_stage(self, running: Running) -> None:
        words = stage_in_words(running)
        self._words.setText(text("{model}: {stage}", model=running.title, stage=words))
        self._bar.setValue(STAGES.index(running.stage) if running.stage in STAGES else 0)
        self._bar.setAccessibleName(words)

    def shut(self) -> None:
        """Stop the clock."""
        self._clock.stop()

    def _look(self) -> None:
        still = "" if self._running is None else still_in_words(self._running, time.monotonic())
        self._elapsed.setText(" · ".join(filter(None, (still, f"{number(self._tenths / 10, 1)}\u202fs"))))
        self._tenths += 1
