"""The table of choices: sorted, acted on by mouse and keyboard, its selection kept while rows come."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent

from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.ui.discover.rows import ChoiceRow
from weighbridge.ui.discover.table_model import ChoicesModel, Column
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.weighed_table import WeighedTable

_FIRST_GONE = (
    Column.OWNER,
    Column.BITS,
    Column.MEMORY,
    Column.FORMAT,
    Column.SIZE,
    Column.SPEED,
)
_LEAST_EMS, _MOST_EMS = 8, 14
"""Of a choice: most names of them are short, and of long ones the end is whose they are, which also stands below."""

_WITH_BARS = 3
"""So many of the first steps have bars."""
_GIVEN_UP = (
    *(_FIRST_GONE[:count] for count in range(_WITH_BARS)),
    *(_FIRST_GONE[:count] for count in range(_WITH_BARS - 1, len(_FIRST_GONE) + 1)),
)
"""Columns that are left out for ever less room."""


class ChoicesTable(WeighedTable):
    """`act_wanted` asks for what the button of the chosen row does: by mouse, by Enter, or by a double click. `taken`:
    the user has chosen a row himself.
    """

    chosen_changed = Signal()
    taken = Signal()
    act_wanted = Signal()
    seen_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        self._model = ChoicesModel()
        name = text("Choices")
        shown = Column.CHOICE, _GIVEN_UP, Column.MEMORY, _WITH_BARS
        super().__init__(theme, self._model, name, *shown, least_ems=_LEAST_EMS, most_ems=_MOST_EMS)
        self._chosen_key = ""
        self.sortByColumn(Column.SIZE, Qt.SortOrder.DescendingOrder)
        self.entered.connect(self.act_wanted)
        self.doubleClicked.connect(self._double_clicked)
        self.clicked.connect(self._clicked)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._model.dataChanged.connect(self.chosen_changed)
        self.verticalScrollBar().valueChanged.connect(self.seen_changed)

    @property
    def chosen(self) -> ChoiceRow | None:
        """The selected row."""
        index = self.currentIndex()
        return self._model.row(index.row()) if index.isValid() else None

    @property
    def seen(self) -> list[ChoiceRow]:
        """The rows in sight, from the top."""
        return [self._model.row(place) for place in self.in_sight]

    def explain_speed_by(self, basis: Callable[[Choice], str]) -> None:
        """Tell what a speed rests on by `basis`, where somebody asks for it."""
        self._model.explain_speed_by(basis)

    def show_rows(self, rows: Sequence[ChoiceRow], context: int, *, elsewhere: bool = False) -> None:
        """Show `rows`, weighed at `context` tokens; `elsewhere`: for another machine. What was chosen stays so while it
        is there.
        """
        bar = self.verticalScrollBar()
        stood = bar.value()
        self._model.show_rows(rows, context, elsewhere=elsewhere)
        if rows and not self.currentIndex().isValid():  # rows have come: nothing moves under the eyes for that
            self.selectRow(self._model.place_of(self._chosen_key) or 0)
            bar.setValue(stood)

    def choose(self, key: str) -> bool:
        """Select a row, or the first one where it is not there. Whether it is there."""
        self._chosen_key = key
        place = self._model.place_of(key)
        if self._model.rowCount():
            self.selectRow(place or 0)
            self.scrollTo(self.currentIndex())
        return place is not None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        before = self.currentIndex()
        super().keyPressEvent(event)
        if self.currentIndex() != before:
            self.taken.emit()

    def columns_without_use(self) -> Sequence[int]:
        return () if len(self._model.owners) > 1 else (Column.OWNER,)

    def _clicked(self, index: QModelIndex) -> None:
        self.taken.emit()
        if index.column() == Column.ACT:
            self.act_wanted.emit()

    def _double_clicked(self, index: QModelIndex) -> None:
        if index.column() != Column.ACT:  # there the first click was enough
            self.act_wanted.emit()

    def _current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self._chosen_key = self._model.row(current.row()).key
        self.chosen_changed.emit()
