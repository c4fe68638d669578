"""How fast answers were here, read off the GUI thread, and the speedometer of the machine as it stands."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from weighbridge.base.task import Task
from weighbridge.choices.choice import Surroundings
from weighbridge.choices.speeds import Speedometer
from weighbridge.running.paces import SpeedTables
from weighbridge.running.speed_observations import SpeedObservation
from weighbridge.ui.background import Background

Runs = tuple[SpeedObservation, ...]


class Speedometers(QObject):
    """`changed` tells that earlier runs were read: speeds of before hold no more. `read` waits for the database."""

    changed = Signal()

    def __init__(
        self, tables: SpeedTables, read: Callable[[], Runs], background: Background, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.tables = tables
        self.runs: Runs = ()
        self._read = read
        self._background = background
        self._reading: Task | None = None
        self._again = False
        self._made: tuple[Surroundings, Runs, Speedometer] | None = None

    def reread(self) -> None:
        """Read anew what ran here; where that goes on, once more after it."""
        if self._reading is not None:
            self._again = True
            return
        self._reading = self._background.run(lambda _task: self._read(), self._have_read, self._failed)

    def of(self, around: Surroundings, runs: Runs | None = None) -> Speedometer:
        """The one for `around`. What ran here counts, unless other `runs` are told: none, on another machine."""
        runs = self.runs if runs is None else runs
        made = self._made
        if made is None or made[1] is not runs or not _is_same(made[0], around):
            made = self._made = (around, runs, Speedometer(around, self.tables, runs))
        return made[2]

    def _have_read(self, runs: Runs) -> None:
        self._reading = None
        if runs != self.runs:
            self.runs = runs
            self.changed.emit()
        self._go_on()

    def _failed(self, error: BaseException) -> None:
        """A database that cannot be read has nothing to tell; what is wrong with it is told elsewhere."""
        del error
        self._reading = None
        self._go_on()

    def _go_on(self) -> None:
        if self._again:
            self._again = False
            self.reread()


def _is_same(one: Surroundings, other: Surroundings) -> bool:
    """Whether a speedometer for one tells what that for the other would: what is loaded does not count."""
    return one.machine is other.machine and one.told is other.told and one.engines is other.engines
