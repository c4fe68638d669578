"""The table of the Library: sorted, searched, and acted on by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent

from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.ui.models.library_model import Column, LibraryFilter, LibraryModel, LibraryRow
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.cells import CellDelegate
from weighbridge.ui.widgets.tables import Table

_GIVEN_UP = (
    (),
    (),
    (Column.RUNNER,),
    (Column.RUNNER, Column.FORMAT),
    (Column.RUNNER, Column.FORMAT, Column.CONTEXT),
    (Column.RUNNER, Column.FORMAT, Column.CONTEXT, Column.SIZE),
    (Column.RUNNER, Column.FORMAT, Column.CONTEXT, Column.SIZE, Column.QUANT),
    (Column.RUNNER, Column.FORMAT, Column.CONTEXT, Column.SIZE, Column.QUANT, Column.STATE),
    (Column.RUNNER, Column.FORMAT, Column.CONTEXT, Column.SIZE, Column.QUANT, Column.STATE, Column.MEMORY),
)
"""Columns that are left out for ever less room; the bars go with the first step."""


class LibraryTable(Table):
    """Keeps its selection by model while rows come and go; the first row is selected where none is."""

    chosen_changed = Signal()
    entered = Signal()
    """Enter or a double click on the chosen row."""
    menu_wanted = Signal(QPoint)

    def __init__(self, theme: Theme) -> None:
        self._model = LibraryModel()
        self._filter = LibraryFilter(self._model)
        self._cells = CellDelegate(theme)
        super().__init__(self._filter, text("Models"), Column.MODEL, _GIVEN_UP)
        self._model.setParent(self)
        self._filter.setParent(self)
        self._chosen_id = ""
        self._cells.setParent(self)
        self.setItemDelegate(self._cells)
        self.setSortingEnabled(True)
        self.sortByColumn(Column.MODEL, Qt.SortOrder.AscendingOrder)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.doubleClicked.connect(lambda _index: self.entered.emit())
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._model.dataChanged.connect(self.chosen_changed)

    @property
    def chosen(self) -> LibraryRow | None:
        """The selected row."""
        index = self.currentIndex()
        return self._filter.row(index) if index.isValid() else None

    def show_rows(self, rows: Sequence[LibraryRow], context: int) -> None:
        """Show `rows`, weighed at `context` tokens."""
        self._model.show_rows(rows, context)
        if not self.currentIndex().isValid() or self._chosen_id not in {row.model.id for row in rows}:
            self.choose(self._chosen_id)

    def explain_speed_by(self, basis: Callable[[Choice], str]) -> None:
        """Tell what a speed rests on by `basis`, where somebody asks for it."""
        self._model.explain_speed_by(basis)

    def update_rows(self, rows: Mapping[str, LibraryRow]) -> None:
        """Show these, by model id, in the place of the rows of the same models."""
        self._model.update_rows(rows)

    @property
    def seen(self) -> list[LibraryRow]:
        """The rows in sight, from the top."""
        count = self._filter.rowCount()
        if not count:
            return []
        top, bottom = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        last = count - 1 if bottom < 0 else bottom
        return [self._filter.row(self._filter.index(place, 0)) for place in range(max(0, top), last + 1)]

    def choose(self, model_id: str) -> None:
        """Select a model, or the first row where it is not shown."""
        places = range(self._filter.rowCount())
        ids = [self._filter.row(self._filter.index(place, 0)).model.id for place in places]
        if ids:
            self.selectRow(ids.index(model_id) if model_id in ids else 0)

    def search(self, typed: str) -> None:
        """Show only what holds the typed words."""
        self._filter.search(typed)
        if not self.currentIndex().isValid():
            self.choose(self._chosen_id)
        self.chosen_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Menu:
            self._ask_menu(self.visualRect(self.currentIndex()).center())
        else:
            super().keyPressEvent(event)

    def columns_without_use(self) -> Sequence[int]:
        return () if self._model.needs_engines else (Column.RUNNER,)

    def use_step(self, place: int) -> Sequence[int]:
        if self._cells.with_bars is (place == 0):
            return ()
        self._cells.with_bars = place == 0
        return (Column.MEMORY,)

    def _current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self._chosen_id = self._filter.row(current).model.id
        self.chosen_changed.emit()

    def _ask_menu(self, place: QPoint) -> None:
        if self.chosen is not None:
            self.menu_wanted.emit(self.viewport().mapToGlobal(place))
