"""The rows of the Library out of all that is known of its models, each made anew only where something of it changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.choices.choice import Choice
from weighbridge.library.disk import DiskUse, disk_use
from weighbridge.library.marks import Mark
from weighbridge.library.model import Key, Model, key_of
from weighbridge.running.state import Running
from weighbridge.ui.library_filters import offered
from weighbridge.ui.longest import longest_attended
from weighbridge.ui.models.arranging import Arranged, View, arranged
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.services import Services

FEW = 500
"""So many models are listed at once; for more, a thread does it while the window goes on."""
_IN_SIGHT = 40
"""At most so many rows are in sight at first."""
_UNMARKED = Mark()


class Listed(NamedTuple):
    """All listed models as rows in order, by what they can be narrowed, the longest context that one attends to."""

    arranged: Arranged
    filters: list[tuple[str, str]]
    longest: int | None


class _Known(NamedTuple):
    """What rows are made of, at one moment; `made` are those that were made before, by model id."""

    models: Sequence[Model]
    choices: Mapping[str, Choice]
    engines: Mapping[str, Running]
    marks: Mapping[Key, Mark]
    made: Mapping[str, LibraryRow]
    disk: Mapping[str, int]

    def row(self, model: Model) -> LibraryRow:
        """The row of `model`, the known one where nothing of it is other than before."""
        known, choice, engine = self.made.get(model.id), self.choices.get(model.id), self.engines.get(model.id)
        mark = self.marks.get(key_of(model), _UNMARKED) if self.marks else _UNMARKED
        same = known is not None and known.model is model and known.choice is choice and known.mark is mark
        if known is not None and same and known.running == engine:
            return known
        return LibraryRow(model, choice, engine, mark, self.disk)


class LibraryRows(QObject):
    """Listed models with their weighing, engine, mark and room on the disk. `measured`: the last is known anew.

    `listed` tells a `Listed`, `renewed` rows by id that are newer than it. `marked`: something was written on a
    model, by whoever; emitted from the thread that did it.
    """

    listed = Signal(object)
    renewed = Signal(object)
    measured = Signal()
    marked = Signal()

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._made: dict[str, LibraryRow] = {}
        self._listing: Task | None = None
        self._missed: set[str] = set()
        self._engines: dict[str, Running] = {}
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

    def list_all(self, view: View) -> None:
        """Make a row for each listed model, and put them in order; `listed` tells them. What was asked before is
        forgotten.
        """
        self._stop_listing()
        models = self._services.library.models
        known = self._known(models, self._services.weighing.choices())
        if len(models) <= FEW:
            self._take(_listed(known, view))
            return
        self._listing = self._services.background.run(lambda _task: self._digested(known, view), self._take, _failed)

    def some(self, ids: Iterable[str]) -> dict[str, LibraryRow]:
        """The rows of these models, by id; without those that were not in the last list."""
        wanted = set(ids)
        self._missed |= wanted
        made = [self._made[model_id].model for model_id in wanted if model_id in self._made]
        models = [model for known in made if (model := self._services.library.listed(known)) is not None]
        choice_of = self._services.weighing.choice
        choices = {model.id: choice for model in models if (choice := choice_of(model)) is not None}
        known = self._known(models, choices)
        rows = {model.id: known.row(model) for model in models}
        self._made.update(rows)
        return rows

    def learnt(self, most: int) -> dict[str, LibraryRow]:
        """The rows of the models of which more was read since it was last asked, by id: `most` of them."""
        learnt = [self._learnt.popleft() for _ in range(min(most, len(self._learnt)))]
        return self.some(learnt) if learnt else {}

    def started_or_stopped(self) -> dict[str, LibraryRow]:
        """The rows of the models whose engines are others than when it was last asked, or do something else."""
        before = self._engines
        self._engines = {one.model_id: one for one in self._services.supervisor.running()}
        return self.some(before.keys() | self._engines.keys())

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
        self._stop_listing()
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    def _measured(self, use: DiskUse) -> None:
        self._use = use
        self._disk.clear()
        self._disk.update(use.of_model)
        self.measured.emit()

    def _known(self, models: Sequence[Model], choices: Mapping[str, Choice]) -> _Known:
        services = self._services
        engines = {one.model_id: one for one in services.supervisor.running()}
        return _Known(models, choices, engines, services.marks.all(), self._made, self._disk)

    def _digested(self, known: _Known, view: View) -> tuple[Listed, dict[str, LibraryRow]]:
        """All rows, once those that will be in sight have the digest that weighing them needs: here nobody waits."""
        listed, made = _listed(known, view)
        arrangement = listed.arranged
        for place in arrangement.order[:_IN_SIGHT]:
            self._services.weighing.sources.blueprints.of(arrangement.rows[place].model)
        return listed, made

    def _stop_listing(self) -> None:
        if self._listing is not None:
            self._listing.cancel()
        self._listing = None
        self._missed.clear()

    def _take(self, made: tuple[Listed, dict[str, LibraryRow]]) -> None:
        self._listing = None
        found, self._made = made
        self.listed.emit(found)
        missed, self._missed = self._missed, set()
        if missed:  # what was made anew one by one meanwhile is newer
            self.renewed.emit(self.some(missed))


def _listed(known: _Known, view: View) -> tuple[Listed, dict[str, LibraryRow]]:
    """All rows, and the same by id. Pure, but for `known.made`, of which one at a time is asked."""
    rows = [known.row(model) for model in known.models]
    found = Listed(arranged(rows, view), offered(rows), longest_attended(known.models))
    return found, {row.model.id: row for row in rows}


def _failed(error: BaseException) -> None:
    if not isinstance(error, Cancelled):
        raise error


def _ignore(error: BaseException) -> None:
    """It was given up, or a folder has just gone: the next scan measures again."""
    del error
