"""The rows of the Library out of all that is known of its models, each made anew only where something of it changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QObject, Signal

from weighbridge.base.task import Task
from weighbridge.library.disk import DiskUse, disk_use
from weighbridge.library.marks import Mark
from weighbridge.library.model import Model, key_of
from weighbridge.running.state import Running
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.services import Services

_UNMARKED = Mark()


class LibraryRows(QObject):
    """Listed models with their weighing, engine, mark and room on the disk. `measured`: the last is known anew.

    `marked`: something was written on a model, by whoever; emitted from the thread that did it.
    """

    measured = Signal()
    marked = Signal()

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._made: dict[str, LibraryRow] = {}
        self._task: Task | None = None
        self._use: DiskUse | None = None
        self._disk: dict[str, int] = {}
        self._learnt: deque[str] = deque()  # filled by the thread that reads
        self._unsubscribe = (
            services.marks.subscribe(lambda _key: self.marked.emit()),
            services.library.subscribe(lambda model: self._learnt.append(model.id)),
        )

    @property
    def disk(self) -> DiskUse | None:
        """What models and folders take; None before it was measured."""
        return self._use

    def all(self) -> list[LibraryRow]:
        """A row for each listed model."""
        services = self._services
        made = self._rows(services.library.models, services.supervisor.running())
        self._made = {row.model.id: row for row in made}
        return made

    def some(self, ids: Iterable[str]) -> dict[str, LibraryRow]:
        """The rows of these models, by id."""
        wanted = set(ids)
        models = [model for model in self._services.library.models if model.id in wanted]
        made = {row.model.id: row for row in self._rows(models, self._services.supervisor.running())}
        self._made.update(made)
        return made

    def learnt(self) -> dict[str, LibraryRow]:
        """The rows of the models of which more was read since it was last asked, by id."""
        learnt = [self._learnt.popleft() for _ in range(len(self._learnt))]
        return self.some(learnt) if learnt else {}

    def measure(self) -> None:
        """Look at the disk, off the GUI thread."""
        self.quiet()
        models, folders = self._services.library.models, self._services.library.folders
        self._task = self._services.background.run(
            lambda task: disk_use(models, folders, task), self._measured, _ignore
        )

    def quiet(self) -> None:
        """Measure no more."""
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Hear nothing more."""
        self.quiet()
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    def _measured(self, use: DiskUse) -> None:
        self._use = use
        self._disk.clear()
        self._disk.update(use.of_model)
        self.measured.emit()

    def _rows(self, models: Sequence[Model], running: Sequence[Running]) -> list[LibraryRow]:
        marks = self._services.marks.all()
        engines = {one.model_id: one for one in running}
        choice_of, made = self._services.weighing.choice, self._made
        rows: list[LibraryRow] = []
        for model in models:
            known, choice = made.get(model.id), choice_of(model)
            engine = engines.get(model.id)
            mark = marks.get(key_of(model), _UNMARKED) if marks else _UNMARKED
            if (
                known is None
                or known.model is not model
                or known.choice is not choice
                or known.mark is not mark
                or known.running != engine
            ):
                known = LibraryRow(model, choice, engine, mark, self._disk)
            rows.append(known)
        return rows


def _ignore(error: BaseException) -> None:
    """It was given up, or a folder has just gone: the next scan measures again."""
    del error
