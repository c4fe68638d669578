"""Tables as all pages show them: rows to select, no grid, no row headers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from weighbridge.ui.theme import STEP

_FIT_MS = 50
"""How long changes of cells gather before the widths of columns follow."""


class Table(QTableView):
    """A table whose rows are as high as the font asks; Tab leaves it, arrows move in it.

    Each column is as wide as it needs, and `stretched` takes the rest. Where that would get too little, under
    `least_ems` times the height of a line or what it needs, `most_ems` times at most, the columns of the next one of
    `given_up` are left out.
    """

    def __init__(
        self,
        model: QAbstractItemModel,
        name: str,
        stretched: int,
        given_up: Sequence[Sequence[int]] = ((),),
        least_ems: int = 12,
        most_ems: int = 22,
    ) -> None:
        super().__init__()
        self._least_ems, self._most_ems = least_ems, most_ems
        self._stretched = stretched
        self._given_up = given_up
        self._cells_wide: dict[int, int] = {}
        self._titles_wide: dict[int, int] = {}
        self.setModel(model)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setMinimumSectionSize(self.fontMetrics().height() * 3)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setResizeContentsPrecision(0)  # the rows in sight alone are measured
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_FIT_MS)
        self._later.timeout.connect(self.fit)
        model.modelReset.connect(self._fit_anew)
        model.dataChanged.connect(self._cells_changed)
        model.headerDataChanged.connect(self._titles_changed)
        model.layoutChanged.connect(self._rows_moved)
        self._size_rows()

    @property
    def whole_height(self) -> int:
        """The height at which all rows show."""
        return self.height_of(self.model().rowCount())

    def height_of(self, most_rows: int) -> int:
        """The height at which the first rows show, at most `most_rows`."""
        rows = min(most_rows, self.model().rowCount()) * self.verticalHeader().defaultSectionSize()
        return self.horizontalHeader().height() + rows + 2 * self.frameWidth()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._size_rows()
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._titles_wide.clear()
            self._cells_wide.clear()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().height() != event.oldSize().height():
            self._cells_wide.clear()  # other rows are in sight
        self.fit()
        self.scrollTo(self.currentIndex())

    def _fit_anew(self) -> None:
        self._cells_wide.clear()
        self.fit()

    def _rows_moved(self) -> None:
        self._cells_wide.clear()
        self._later.start()

    def _cells_changed(self, first: QModelIndex, last: QModelIndex) -> None:
        for column in range(first.column(), last.column() + 1):
            self._cells_wide.pop(column, None)
        self._later.start()

    def _titles_changed(self, way: Qt.Orientation, first: int, last: int) -> None:
        del way
        for column in range(first, last + 1):
            self._titles_wide.pop(column, None)
        self._later.start()

    def fit(self) -> None:
        """Give the columns their widths, and leave out what has no room. Only what has changed is measured."""
        em = self.fontMetrics().height()
        least = min(max(self._wanted(self._stretched), em * self._least_ems), em * self._most_ems)
        columns = [column for column in range(self.model().columnCount()) if column != self._stretched]
        absent = self.columns_without_use()
        for place, given_up in enumerate(self._given_up):
            hidden = {*given_up, *absent}
            for column in self.use_step(place):
                self._cells_wide.pop(column, None)
            wanted = {column: self._wanted(column) for column in columns if column not in hidden}
            if sum(wanted.values()) + least <= self.viewport().width():
                break
        for column in columns:
            if self.isColumnHidden(column) is not (column in hidden):
                self.setColumnHidden(column, column in hidden)
        for column, width in wanted.items():
            self.setColumnWidth(column, width)

    def columns_without_use(self) -> Sequence[int]:
        """Columns that are left out whatever the room: there is nothing in them."""
        return ()

    def use_step(self, place: int) -> Sequence[int]:
        """Called before the widths of step `place` of `given_up` are asked for: the columns that have another by it."""
        del place
        return ()

    def _wanted(self, column: int) -> int:
        if column not in self._titles_wide:
            self._titles_wide[column] = self._title_width(column)
        if column not in self._cells_wide:
            self._cells_wide[column] = self._cells_width(column)
        return max(self._titles_wide[column], self._cells_wide[column])

    @property
    def in_sight(self) -> range:
        """The rows in sight, by the heights of the rows and of this: Qt takes all for seen before they are laid out."""
        count, high = self.model().rowCount(), self.verticalHeader().defaultSectionSize()
        top = max(0, self.verticalScrollBar().value() // high)
        return range(min(top, count), min(count, top + self.viewport().height() // high + 2))

    def _cells_width(self, column: int) -> int:
        """Of the rows in sight."""
        model = self.model()
        return max((self.sizeHintForIndex(model.index(row, column)).width() for row in self.in_sight), default=0)

    def _title_width(self, column: int) -> int:
        header, hidden = self.horizontalHeader(), self.isColumnHidden(column)
        header.ensurePolished()
        if hidden:
            self.setColumnHidden(column, False)  # a hidden one tells no width
        wide = header.sectionSizeHint(column)
        if hidden:
            self.setColumnHidden(column, True)
        return wide

    def _size_rows(self) -> None:
        height = self.fontMetrics().height() + 5 * STEP
        self.verticalHeader().setDefaultSectionSize(height)
        self.horizontalHeader().setFixedHeight(height)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
