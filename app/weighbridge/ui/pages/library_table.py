"""The table of the Library: sorted, searched, and acted on by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal

from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.ui.models.arranging import Arranged, Test, View, arranged
from weighbridge.ui.models.library_model import LibraryModel
from weighbridge.ui.models.library_row import Column, LibraryRow
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.weighed_table import WeighedTable

_FIRST_GONE = (
    Column.DISK,
    Column.USED,
    Column.RUNNER,
    Column.FORMAT,
    Column.CONTEXT,
    Column.SIZE,
    Column.QUANT,
    Column.SOURCE,
    Column.STATE,
    Column.MEMORY,
)
_WITH_BARS = 2
"""So many of the first steps have bars."""
_GIVEN_UP = ((), _FIRST_GONE[:1], *(_FIRST_GONE[:count] for count in range(1, len(_FIRST_GONE) + 1)))
"""Columns that are left out for ever less room."""


class LibraryTable(WeighedTable):
    """Keeps its selection by model while rows come and go; the first row is selected where none is. A double click is
    as Enter. `chosen_changed`: another row is selected, or none; `chosen_told`: the selected one says something else.
    """

    chosen_changed = Signal()
    chosen_told = Signal()

    def __init__(self, theme: Theme) -> None:
        self._model = LibraryModel()
        super().__init__(theme, self._model, text("Models"), Column.MODEL, _GIVEN_UP, Column.MEMORY, _WITH_BARS)
        self._chosen_id = ""
        self._told: LibraryRow | None = None
        self.sortByColumn(Column.MODEL, Qt.SortOrder.AscendingOrder)
        self.doubleClicked.connect(lambda _index: self.entered.emit())
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._model.dataChanged.connect(self._cells_told)

    @property
    def chosen(self) -> LibraryRow | None:
        """The selected row."""
        index = self.currentIndex()
        return self._model.row(index.row()) if index.isValid() else None

    def show_rows(self, rows: Sequence[LibraryRow], context: int) -> None:
        """Show `rows`, weighed at `context` tokens."""
        self._model.show_context(context)
        self.show_arranged(arranged(rows, self.view))

    @property
    def view(self) -> View:
        """How rows are sorted and filtered."""
        return self._model.view

    def show_context(self, context: int) -> None:
        """Rows are weighed at `context` tokens."""
        self._model.show_context(context)

    def show_arranged(self, new: Arranged) -> None:
        """Show these rows; what is chosen, and how far down it is scrolled, stay as they are."""
        bar = self.verticalScrollBar()
        scrolled = bar.value()
        self._model.show_arranged(new)
        if not self.currentIndex().isValid() or self._chosen_id not in new.places:
            self.choose(self._chosen_id)
        if self._chosen_id in new.places:
            bar.setValue(scrolled)

    def explain_speed_by(self, basis: Callable[[Choice], str]) -> None:
        """Tell what a speed rests on by `basis`, where somebody asks for it."""
        self._model.explain_speed_by(basis)

    def update_rows(self, rows: Mapping[str, LibraryRow]) -> None:
        """Show these, by model id, in the place of the rows of the same models, which were weighed anew."""
        self._model.update_rows(rows)

    def renew_rows(self, rows: Mapping[str, LibraryRow]) -> None:
        """The same where anything of them may be other than before."""
        self._model.update_rows(rows, tuple(Column))

    def tell_disk(self) -> None:
        """The room that models take on the disk is known anew."""
        self._model.tell_disk()

    @property
    def seen(self) -> list[LibraryRow]:
        """The rows in sight, from the top."""
        return [self._model.row(place) for place in self.in_sight]

    def place_of(self, model_id: str) -> int | None:
        """Where a model is shown; None where filters leave it out, or it is not there."""
        return self._model.place_of(model_id)

    def choose(self, model_id: str) -> None:
        """Select a model, or the first row where it is not shown."""
        if self._model.rowCount():
            self.selectRow(self._model.place_of(model_id) or 0)

    def search(self, typed: str) -> None:
        """Show only what holds the typed words."""
        self._model.search(typed)
        self._filtered()

    def keep(self, test: Test | None) -> None:
        """Show only what passes `test`; None: all."""
        self._model.keep(test)
        self._filtered()

    def _filtered(self) -> None:
        if not self.currentIndex().isValid():
            self.choose(self._chosen_id)
        if self.chosen is not self._told:
            self._tell_chosen()

    def columns_without_use(self) -> Sequence[int]:
        return self._model.without_use

    def _cells_told(self) -> None:
        """Of all rows of which something was told, only the chosen one is shown elsewhere."""
        if self.chosen is not self._told:
            self._told = self.chosen
            self.chosen_told.emit()

    def _tell_chosen(self) -> None:
        self._told = self.chosen
        self.chosen_changed.emit()

    def _current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self._chosen_id = self._model.row(current.row()).model.id
        self._tell_chosen()
