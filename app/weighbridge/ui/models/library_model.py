"""The Library as a table: one row a model, sorted by any column, filtered by words and by a test.

It sorts and filters by itself: a proxy of Qt asks twice for each comparison, and 10,000 rows then take a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from weighbridge.base.units import number
from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.estimates.speed.speeds import DEPTH
from weighbridge.library.model import OWN
from weighbridge.ui.models.library_row import NUMBERS, WEIGHED, Column, LibraryRow, shown, sort_key, tip
from weighbridge.ui.models.ordering import ordered
from weighbridge.ui.widgets.cells import CELL_ROLE, Cell

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_AT_TIMES = (Column.RUNNER, Column.SOURCE, Column.FORMAT, Column.DISK, Column.USED)
"""Columns that are of use for some libraries."""

Test = Callable[[LibraryRow], bool]


class LibraryModel(QAbstractTableModel):
    """Rows are replaced as a whole after a scan, and updated one by one when a model is weighed or its engine changes.

    Rows that come or go, in a scan or by a filter, reset the model; otherwise what is selected stays selected.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[LibraryRow] = []
        self._place_of: dict[str, int] = {}
        self._searched: list[str | None] = []
        self._order: list[int] = []
        self._needing: set[int] = set()
        self._used: set[Column] = set()
        self._column, self._descending = Column.MODEL, False
        self._words: list[str] = []
        self._test: Test | None = None
        self._context = 0
        self._speed_basis: Callable[[Choice], str] = lambda _choice: ""

    @property
    def without_use(self) -> list[Column]:
        """The columns that tell nothing, or the same of all rows."""
        told = {*self._used, *([Column.RUNNER] if self._needing else [])}
        return [column for column in _AT_TIMES if column not in told]

    def show_rows(self, rows: Sequence[LibraryRow], context: int) -> None:
        """Show `rows`, weighed at `context` tokens. Rows of the same models are updated where they stand."""
        if context != self._context:
            self._context = context
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, Column.MEMORY, Column.MEMORY)
        if [row.model.id for row in rows] == list(self._place_of):
            changed = {place: row for place, row in enumerate(rows) if _differs(row, self._rows[place])}
            self._put(changed, tuple(Column))
            return
        self.beginResetModel()
        self._rows, self._searched = list(rows), [None] * len(rows)
        self._place_of = {row.model.id: place for place, row in enumerate(rows)}
        self._needing, self._used = set(), set()
        self._note_use(dict(enumerate(rows)))
        self._order = self._sorted(self._kept())
        self.endResetModel()

    def update_rows(self, rows: Mapping[str, LibraryRow], columns: Sequence[Column] = WEIGHED) -> None:
        """Put these, by model id, in the place of the rows of the same models; only `columns` are other than before."""
        known = {self._place_of[model_id]: row for model_id, row in rows.items() if model_id in self._place_of}
        self._put(known, columns)

    def tell_disk(self) -> None:
        """The room that models take is known anew."""
        differs = any(row.differs_on_disk for row in self._rows)
        (self._used.add if differs else self._used.discard)(Column.DISK)
        if self._column is Column.DISK:
            self._arrange()
        if self._order:
            self.dataChanged.emit(self.index(0, Column.SIZE), self.index(len(self._order) - 1, Column.DISK))

    def search(self, typed: str) -> None:
        """Show the rows that hold all typed words."""
        self._words = typed.casefold().split()
        self._arrange()

    def keep(self, test: Test | None) -> None:
        """Show the rows that pass `test`; None: all."""
        self._test = test
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._descending = Column(column), order == Qt.SortOrder.DescendingOrder
        self._arrange()

    def explain_speed_by(self, basis: Callable[[Choice], str]) -> None:
        """Tell what a speed rests on by `basis`, where somebody asks for it."""
        self._speed_basis = basis

    def row(self, place: int) -> LibraryRow:
        """The row that is shown at `place`."""
        return self._rows[self._order[place]]

    def place_of(self, model_id: str) -> int | None:
        """Where a model is shown; None where it is not."""
        known = self._place_of.get(model_id)
        return None if known is None or known not in self._order else self._order.index(known)

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._order)

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
        """Show these by their places; only `columns` may differ: what is sorted by another need not be sorted again.

        It is told once: who listens measures whole columns.
        """
        for place, row in changed.items():
            if row.mark != self._rows[place].mark or row.model is not self._rows[place].model:
                self._searched[place] = None
            self._rows[place] = row
        if not changed:
            return
        self._note_use(changed)
        if self._column in columns or self._words or self._test is not None:
            self._arrange()
        touched = [at for at, place in enumerate(self._order) if place in changed]
        if touched:
            self.dataChanged.emit(self.index(touched[0], columns[0]), self.index(touched[-1], columns[-1]))

    def _note_use(self, rows: Mapping[int, LibraryRow]) -> None:
        """Which columns tell something, by these rows, which are new at their places."""
        usual = self._rows[0].model.format if self._rows else ""
        for place, row in rows.items():
            (self._needing.add if row.runner else self._needing.discard)(place)
            if row.mark.used_s is not None:
                self._used.add(Column.USED)
            if row.model.source != OWN:
                self._used.add(Column.SOURCE)
            if row.model.format != usual:
                self._used.add(Column.FORMAT)

    def _arrange(self) -> None:
        """Filter and sort anew."""
        kept = self._kept()
        if len(kept) != len(self._order) or kept != sorted(self._order):
            self.beginResetModel()
            self._order = self._sorted(kept)
            self.endResetModel()
            return
        order = self._sorted(kept)
        if order != self._order:
            self._move_to(order)

    def _move_to(self, order: list[int]) -> None:
        """The same rows in another order."""
        self.layoutAboutToBeChanged.emit()
        kept = [(index, self._order[index.row()]) for index in self.persistentIndexList()]
        self._order = order
        at = {place: number for number, place in enumerate(order)} if kept else {}
        moved = [self.index(at[place], index.column()) for index, place in kept]
        self.changePersistentIndexList([index for index, _ in kept], moved)
        self.layoutChanged.emit()

    def _kept(self) -> list[int]:
        """The places of the rows that pass the filters."""
        test, words = self._test, self._words
        places = [place for place, row in enumerate(self._rows) if test is None or test(row)]
        return [place for place in places if self._holds(place, words)] if words else places

    def _holds(self, place: int, words: Sequence[str]) -> bool:
        held = self._searched[place]
        if held is None:
            held = self._searched[place] = self._rows[place].searched
        return all(word in held for word in words)

    def _sorted(self, places: list[int]) -> list[int]:
        key, rows = sort_key(self._column), self._rows
        return ordered(places, lambda place: key(rows[place]), descending=self._descending)

    def _header_tip(self, column: Column) -> str | None:
        if column is Column.CONTEXT:
            return text("The longest context, in tokens, that the model was trained for")
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
        chip=column in (Column.SOURCE, Column.FORMAT),
        memory=row.memory if column is Column.MEMORY else None,
    )


_BY_ROLE: Mapping[int, Callable[[LibraryRow, Column], object]] = {
    Qt.ItemDataRole.TextAlignmentRole: lambda row, column: _RIGHT if column in NUMBERS else _LEFT,
    Qt.ItemDataRole.ToolTipRole: tip,
    CELL_ROLE: _cell,
}
