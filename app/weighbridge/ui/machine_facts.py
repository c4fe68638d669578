"""What is learnt of the machine beside its own probes: what each engine can use, and bandwidth measured here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from PySide6.QtCore import QObject, Signal

from weighbridge.base.errors import Cancelled, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.hardware.bandwidth import Table, load_table
from weighbridge.hardware.machine import Machine
from weighbridge.hardware.measured import Measured, Measurements, measure
from weighbridge.hardware.merge import with_engines
from weighbridge.running.devices import EngineDevices, Told, by_engine
from weighbridge.ui.background import Background
from weighbridge.ui.impatient import impatient
from weighbridge_engines.api import Cause


class MachineFacts(QObject):
    """`changed` is emitted in the GUI thread. `measuring` while that goes on; `error` is why it failed.

    `told` is what engines can use here, which is known once it is `answered`. `absent()` says that no engine is
    installed, where none is.
    """

    changed = Signal()

    def __init__(
        self,
        devices: EngineDevices,
        measurements: Measurements,
        background: Background,
        parent: QObject | None = None,
        measure_gbs: Callable[[Machine], float | None] = measure,
        absent: Callable[[], Cause | None] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self._devices = devices
        self._measurements = measurements
        self._background = background
        self._measure_gbs = measure_gbs
        self._look_for_absent = absent
        self._absent = absent()
        self._asked_about: Machine | None = None
        self._round = 0
        self._table = Table(())
        self._measured: Measured | None = None
        self._problems: tuple[Cause, ...] = ()
        self.told: tuple[Told, ...] = ()
        self.answered = False
        self.measuring = False
        self.error: BaseException | None = None

    def complete(self, machine: Machine) -> Machine:
        """`machine` with what was learnt, and that no engine is installed, where none is."""
        absent = () if self._absent is None else (self._absent,)
        machine = replace(machine, problems=(*machine.problems, *self._problems, *absent))
        machine = with_engines(machine, by_engine(self.told), self._table) if self.told else machine
        return machine if self._measured is None else self._measured.applied(machine)

    def ask_engines(self, machine: Machine) -> None:
        """Ask each installed engine what it can use of `machine`, once."""
        if self._asked_about is None:
            self._asked_about = machine
            asked = self._round
            self._background.stream(
                lambda task: impatient(lambda: self._ask(machine), task, "ask engines"),
                lambda found: self._learnt(found, asked),
                self._unlearnt,
            )

    def ask_again(self) -> None:
        """Another build is in use, or one tells something else by now: what was asked before is asked anew."""
        self._absent = self._look_for_absent()
        machine, self._asked_about = self._asked_about, None
        self._round += 1
        if machine is not None:
            self.ask_engines(machine)

    def measure(self, machine: Machine) -> None:
        """Measure the memory's bandwidth, in under three seconds, that of cards where an engine can; keep both."""
        if not self.measuring:
            self.measuring, self.error = True, None
            self.changed.emit()
            self._background.stream(lambda task: self._measure(machine, task), self._kept, self._failed)

    def _ask(self, machine: Machine) -> tuple[tuple[Told, ...], Table, Measured]:
        return self._devices.told(machine), load_table(), self._measurements.of(machine)

    def _measure(self, machine: Machine, task: Task) -> tuple[Measured, tuple[Cause, ...]]:
        gbs = impatient(lambda: self._measure_gbs(machine), task, "measure")
        if gbs is None:
            raise WeighbridgeError("hardware.not_measured")
        cards = impatient(lambda: self._devices.measured(machine), task, "measure cards")
        try:
            return self._measurements.keep(machine, gbs, date.today(), cards.gbs), cards.problems
        except OSError as error:
            values = {"gbs": round(gbs), "path": self._measurements.file, "reason": error.strerror or str(error)}
            raise WeighbridgeError("hardware.not_kept", **values) from error

    def _learnt(self, found: tuple[tuple[Told, ...], Table, Measured], asked: int) -> None:
        if asked != self._round:
            return  # of builds that were in use then
        self.told, self._table, kept = found
        self.answered = True
        if self._measured is None:
            self._measured = kept
        self.changed.emit()

    def _unlearnt(self, error: BaseException) -> None:
        self.answered = not isinstance(error, Cancelled)
        self._failed(error)

    def _kept(self, found: tuple[Measured, tuple[Cause, ...]]) -> None:
        self._measured, self._problems = found
        self.measuring = False
        self.changed.emit()

    def _failed(self, error: BaseException) -> None:
        self.measuring = False
        self.error = None if isinstance(error, Cancelled) else error
        self.changed.emit()
