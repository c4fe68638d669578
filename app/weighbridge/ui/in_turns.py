"""Work that would hold up the window done step by step, so that what a person does comes in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

Step = Callable[[], object]


class InTurns(QObject):
    """Takes one step at each turn of the event loop, in the order in which they were asked for; none where others, to
    whom it `gives_way`, take one, and none in the turn in which the first was asked for: that has had its work.
    """

    def __init__(self, parent: QObject | None = None, gives_way: Callable[[], bool] = lambda: False) -> None:
        super().__init__(parent)
        self._gives_way = gives_way
        self._steps: deque[Step] = deque()
        self._waits_a_turn = False
        # Started anew after each step: one that repeats without a pause goes off several times within a late turn.
        self._timer = QTimer(self, interval=0, singleShot=True)
        self._timer.timeout.connect(self._take)

    @property
    def waiting(self) -> bool:
        """Whether there is a step to take."""
        return bool(self._steps)

    def ask(self, *steps: Step) -> None:
        """Take `steps`, after those that are waiting. One that is waiting is taken once, where it was to be last."""
        for step in steps:
            if step in self._steps:
                self._steps.remove(step)
            self._steps.append(step)
        if self._steps and not self._timer.isActive():
            self._waits_a_turn = True
            self._timer.start()

    def drop(self, step: Step) -> None:
        """Do not take `step`, where it is waiting: it has just been done."""
        if step in self._steps:
            self._steps.remove(step)

    def forget(self) -> None:
        """Take no more."""
        self._steps.clear()
        self._timer.stop()

    def _take(self) -> None:
        try:
            if self._steps and not self._waits_a_turn and not self._gives_way():
                self._steps.popleft()()
        finally:
            self._waits_a_turn = False
            if self._steps:
                self._timer.start()
