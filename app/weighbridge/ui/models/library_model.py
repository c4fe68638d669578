"""The Library as a table: one row a model, sorted by any column, filtered by words and by a test.

It sorts and filters by itself: a proxy of Qt asks twice for each comparison, and 10,000 rows then take a second.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from weighbridge.base.units import number
from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.estimates.speed.speeds import DEPTH
from weighbridge.ui.models.arranging import Arranged, Test, View, arranged, arranged_anew, note_use
from weighbridge.ui.models.library_row import NUMBERS, WEIGHED, Column, LibraryRow, shown, sort_key, tip
from weighbridge.ui.widgets.cells import CELL_ROLE, Cell

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_AT_TIMES = (Column.RUNNER, Column.SOURCE, Column.FORMAT, Column.DISK, Column.USED)
"""Columns that are of use for some libraries."""


class LibraryModel(QAbstractTableModel):
    """Rows are replaced as a whole after a scan, and updated one by one when a model is weighed or its engine changes.

    Rows that come or go, in a scan or by a filter, reset the model; otherwise what is selected stays selected.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._held = arranged(())
        self._context = 0
        self._speed_basis: Callable[[Choice], str] = lambda _choice: ""

    @property
    def view(self) -> View:
        """How rows are sorted and filtered."""
        return self._held.view

    @property
    def without_use(self) -> list[Column]:
        """The columns that tell nothing, or the same of all rows."""
        told = {*self._held.used, *([Column.RUNNER] if self._held.needing else [])}
        return [column for column in _AT_TIMES if column not in told]

    def show_context(self, context: int) -> None:
        """Rows are weighed at `context` tokens."""
        if context != self._context:
            self._context = context
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, Column.MEMORY, Column.MEMORY)

    def show_rows(self, rows: Sequence[LibraryRow], context: int) -> None:
        """Show `rows`, weighed at `context` tokens. Rows of the same models are updated where they stand."""
        self.show_context(context)
        self.show_arranged(arranged(rows, self.view))

    def show_arranged(self, new: Arranged) -> None:
        """The same with rows that are in order already, by whichever thread."""
        if new.view != self.view:  # somebody has sorted or filtered meanwhile
            new = arranged_anew(new, self.view)
        old = self._held
        if new.places.keys() != old.places.keys() or list(new.places) != list(old.places):
            self._reset_to(new)
            return
        changed = {place for place, row in enumerate(new.rows) if _differs(row, old.rows[place])}
        self._held = new._replace(order=old.order)
        self._order_by(new.order)
        self._tell(changed, tuple(Column))

    def update_rows(self, rows: Mapping[str, LibraryRow], columns: Sequence[Column] = WEIGHED) -> None:
        """Put these, by model id, in the place of the rows of the same models; only `columns` are other than before."""
        places = self._held.places
        known = {places[model_id]: row for model_id, row in rows.items() if model_id in places}
        self._put(known, columns)

    def tell_disk(self) -> None:
        """The room that models take is known anew."""
        differs = any(row.differs_on_disk for row in self._held.rows)
        (self._held.used.add if differs else self._held.used.discard)(Column.DISK)
        if self.view.column is Column.DISK:
            self._held.keys[:] = map(sort_key(Column.DISK), self._held.rows)
            self._show_as(self.view)
        if self._held.order:
            self.dataChanged.emit(self.index(0, Column.SIZE), self.index(len(self._held.order) - 1, Column.DISK))

    def search(self, typed: str) -> None:
        """Show the rows that hold all typed words."""
        self._show_as(self.view._replace(words=tuple(typed.casefold().split())))

    def keep(self, test: Test | None) -> None:
        """Show the rows that pass `test`; None: all."""
        self._show_as(self.view._replace(test=test))

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        descending = order == Qt.SortOrder.DescendingOrder
        wanted = self.view._replace(column=Column(column), descending=descending)
        if wanted != self.view:  # a header that is clicked asks twice
            self._show_as(wanted)

    def explain_speed_by(self, basis: Callable[[Choice], str]) -> None:
        """Tell what a speed rests on by `basis`, where somebody asks for it."""
        self._speed_basis = basis

    def row(self, place: int) -> LibraryRow:
        """The row that is shown at `place`."""
        return self._held.rows[self._held.order[place]]

    def place_of(self, model_id: str) -> int | None:
        """Where a model is shown; None where it is not."""
        known = self._held.places.get(model_id)
        return None if known is None or known not in self._held.order else self._held.order.index(known)

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._held.order)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = Column(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in NUMBERS else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._header_tip(column)
        return self._titles()[column] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row, column = self.row(index.row()), Column(index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole and column is Column.SPEED:
            return speed_in_words(row.speed)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return shown(row, column) or None
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.SPEED:
            return (self._speed_basis(row.choice) or None) if row.choice else None
        by_role = _BY_ROLE.get(role)
        return by_role(row, column) if by_role else None

    def _put(self, changed: Mapping[int, LibraryRow], columns: Sequence[Column]) -> None:
        """Show these by their places; only `columns` may differ. All are sorted again only where one of them moves."""
        held, key, has_moved = self._held, sort_key(self.view.column), False
        for place, row in changed.items():
            before, sorted_by = held.rows[place], key(row)
            has_moved = has_moved or sorted_by != held.keys[place]
            held.keys[place] = sorted_by
            if row.mark != before.mark or row.model is not before.model:
                held.searched[place] = row.searched
            held.rows[place] = row
        if not changed:
            return
        note_use(held, changed)
        if has_moved or self.view.words or self.view.test is not None:
            self._show_as(self.view)
        self._tell(changed.keys(), columns)

    def _tell(self, changed: Container[int], columns: Sequence[Column]) -> None:
        """It is told once: who listens measures whole columns."""
        touched = [at for at, place in enumerate(self._held.order) if place in changed]
        if touched:
            self.dataChanged.emit(self.index(touched[0], columns[0]), self.index(touched[-1], columns[-1]))

    def _show_as(self, view: View) -> None:
        """Filter and sort anew."""
        new = arranged_anew(self._held, view)
        self._held = self._held._replace(view=view, keys=new.keys)
        self._order_by(new.order)

    def _order_by(self, order: list[int]) -> None:
        """Show the rows at these places in this order."""
        old = self._held.order
        if order == old:
            return
        are_all = len(order) == len(old) == len(self._held.rows)
        if not are_all and set(order) != set(old):
            self._reset_to(self._held._replace(order=order))
            return
        self.layoutAboutToBeChanged.emit()
        kept = [(index, old[index.row()]) for index in self.persistentIndexList()]
        self._held = self._held._replace(order=order)
        at = {place: number for number, place in enumerate(order)} if kept else {}
        moved = [self.index(at[place], index.column()) for index, place in kept]
        self.changePersistentIndexList([index for index, _ in kept], moved)
        self.layoutChanged.emit()

    def _reset_to(self, new: Arranged) -> None:
        self.beginResetModel()
        self._held = new
        self.endResetModel()

    def _header_tip(self, column: Column) -> str | None:
        if column is Column.CONTEXT:
            return text("The longest context, in tokens, that the model was trained for, or that its server tells")
        if column is Column.MEMORY:
            count = number(self._context)
            return text("All that it needs at {count} tokens, or at what it was trained for", count=count)
        if column is Column.SPEED:
            return text("How fast it writes with {count} tokens in the cache: two of three times", count=number(DEPTH))
        return text("What the files take of the disk") if column is Column.DISK else None

    def _titles(self) -> Mapping[Column, str]:
        return {
            Column.MODEL: text("Model"),
            Column.SOURCE: text("Source"),
            Column.FORMAT: text("Format"),
            Column.QUANT: text("Quant"),
            Column.SIZE: text("Size"),
            Column.DISK: text("On disk"),
            Column.CONTEXT: text("Trained for"),
            Column.MEMORY: text("Memory at {count}", count=number(self._context)),
            Column.FIT: text("Fit"),
            Column.SPEED: text("tok/s"),
            Column.RUNNER: text("Needs"),
            Column.USED: text("Last used"),
            Column.STATE: text("State"),
        }


def _differs(row: LibraryRow, other: LibraryRow) -> bool:
    """Whether they may show something else. Models are not compared in full: there are thousands of them."""
    if row is other:
        return False
    same = row.model is other.model and row.choice is other.choice
    return not same or row.running != other.running or row.mark != other.mark


def _badge(row: LibraryRow, column: Column) -> tuple[str, str] | None:
    if column is Column.FIT:
        return row.fit_badge
    return row.badge if column is Column.STATE else None


def _cell(row: LibraryRow, column: Column) -> Cell:
    """All that is painted of a cell."""
    return Cell(
        shown=shown(row, column),
        aligned=_RIGHT if column in NUMBERS else _LEFT,
        strong=column is Column.MODEL,
        badge=_badge(row, column),
        glyph=row.fit_glyph if column is Column.FIT else "",
        chip=column in (Column.SOURCE, Column.FORMAT),
        memory=row.memory if column is Column.MEMORY else None,
    )


_BY_ROLE: Mapping[int, Callable[[LibraryRow, Column], object]] = {
    Qt.ItemDataRole.TextAlignmentRole: lambda row, column: _RIGHT if column in NUMBERS else _LEFT,
    Qt.ItemDataRole.ToolTipRole: tip,
    CELL_ROLE: _cell,
}
