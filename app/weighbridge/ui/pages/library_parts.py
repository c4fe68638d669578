"""Choosing what is loaded beside the model: projector, draft model, adapter."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QFileDialog, QMenu

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.choices.part_words import role_in_words
from weighbridge.formats.variant import Role
from weighbridge.library.marks import Mark
from weighbridge.library.model import Model
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.part_lines import ROLES, Offers, lines, offer_in_words, offers
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.parts_list import PartsList


class PartsChooser(QObject):
    """Fills `shown` for the chosen model, and writes what is chosen. `failed` tells an error.

    `menu` offers all roles, for roles of which nothing was found too.
    """

    failed = Signal(object)

    def __init__(self, services: Services, shown: PartsList, menu: QMenu, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._list = shown
        self._menu = menu
        self._model: Model | None = None
        self._mark = Mark()
        self._found: Offers = {}
        self._task: Task | None = None
        shown.change_wanted.connect(self._ask)
        menu.aboutToShow.connect(self._fill)

    def show(self, row: LibraryRow | None) -> None:
        """Show what is loaded beside the model of `row`; formats that load nothing beside them have none."""
        able = row is not None and row.model.format == "gguf" and row.model.problem is None
        self._menu.menuAction().setEnabled(able)
        if row is None or not able:
            self._model = None
            self._list.show_lines(())
            return
        self._mark = row.mark
        if self._model is not row.model:
            if self._model is None or self._model.id != row.model.id:
                self._found = {}
            self._model = row.model
            self._look(row.model)
        self._list.show_lines(lines(row.model, row.mark, self._found))

    def quiet(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()

    def choose(self, role: Role, path: Path | None) -> None:
        """Have the file at `path` loaded in `role`; None: none."""
        model = self._model
        if model is None:
            return
        try:
            self._services.marks.choose_part(model, role, path)
        except WeighbridgeError as error:
            self.failed.emit(error)
        else:
            self._services.weighing.choose_parts(model)

    def _look(self, model: Model) -> None:
        self.quiet()
        models = self._services.library.models
        self._task = self._services.background.run(
            lambda _task: offers(model, models), partial(self._looked, model), _ignore
        )

    def _looked(self, model: Model, found: Offers) -> None:
        if model is self._model:
            self._found = found
            self._list.show_lines(lines(model, self._mark, found))

    def _fill(self) -> None:
        self._menu.clear()
        for role in ROLES:
            self._offer(self._menu.addMenu(role_in_words(role)), role)

    def _ask(self, role: Role) -> None:
        """The choices of one role, below its button."""
        beside = self._list.buttons[role]
        menu = QMenu(beside)
        self._offer(menu, role)
        menu.exec(beside.mapToGlobal(QPoint(0, beside.height())))
        menu.deleteLater()

    def _offer(self, menu: QMenu, role: Role) -> None:
        chosen = self._mark.parts.get(role)
        choices = [
            (text("None"), None),
            *((offer_in_words(each), each.helper.path) for each in self._found.get(role, ())),
        ]
        for words, path in choices:
            entry = menu.addAction(words.replace("&", "&&"))
            entry.setCheckable(True)
            entry.setChecked(path == chosen)
            entry.triggered.connect(partial(self._choose, role, path))
        menu.addSeparator()
        menu.addAction(text("Choose a file…")).triggered.connect(partial(self._choose_file, role))

    def _choose(self, role: Role, path: Path | None, _checked: bool = False) -> None:
        self.choose(role, path)

    def _choose_file(self, role: Role, _checked: bool = False) -> None:
        title = text("A file to load beside the model")
        chosen, _ = QFileDialog.getOpenFileName(self._list, title, "", text("Models ({endings})", endings="*.gguf"))
        if chosen:
            self.choose(role, Path(chosen))


def _ignore(error: BaseException) -> None:
    """Another model was chosen meanwhile, or a folder has gone: then nothing is offered."""
    del error
