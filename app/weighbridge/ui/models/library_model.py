"""The Library as a table: one row a model, with what it needs in memory and what its engine does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QFont

from weighbridge.base.units import number, size
from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.estimates.speed.speeds import DEPTH
from weighbridge.running.state import Running
from weighbridge.ui import weight
from weighbridge.ui.models.weighed import Weighed, by_fit, by_need, by_speed
from weighbridge.ui.running_words import badge_of, word_of
from weighbridge.ui.widgets.cells import BADGE_ROLE, BAR_ROLE, CHIP_ROLE

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Column(IntEnum):
    """The columns from the left."""

    MODEL = 0
    FORMAT = 1
    QUANT = 2
    SIZE = 3
    CONTEXT = 4
    MEMORY = 5
    FIT = 6
    SPEED = 7
    RUNNER = 8
    STATE = 9


NUMBERS = (Column.SIZE, Column.CONTEXT, Column.MEMORY, Column.SPEED)


@dataclass(frozen=True)
class LibraryRow(Weighed):
    """A weighed model, and its engine process where there is one."""

    running: Running | None = None

    @property
    def badge(self) -> tuple[str, str] | None:
        """The badge of its state: damaged, or what its engine does; None for a file that just lies there."""
        if self.model.problem is not None:
            return "no", text("Damaged")
        if self.running is None:
            return None
        return badge_of(self.running.state)[0], word_of(self.running)


class LibraryModel(QAbstractTableModel):
    """Rows are replaced as a whole after a scan, and updated one by one when an engine changes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[LibraryRow] = []
        self._context = 0
        self._speed_basis: Callable[[Choice], str] = lambda _choice: ""

    def show_rows(self, rows: Sequence[LibraryRow], context: int) -> None:
        """Show `rows`, weighed at `context` tokens. Rows of the same models are updated where they stand."""
        same = [row.model.id for row in rows] == [row.model.id for row in self._rows]
        if context != self._context:
            self._context = context
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, Column.MEMORY, Column.MEMORY)
        if not same:
            self.beginResetModel()
            self._rows = list(rows)
            self.endResetModel()
            return
        changed = [place for place, row in enumerate(rows) if row != self._rows[place]]
        self._rows = list(rows)
        if changed:  # told once: who listens measures whole columns
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(Column) - 1))

    def update_rows(self, rows: Mapping[str, LibraryRow]) -> None:
        """Put these, by model id, in the place of the rows of the same models."""
        changed = [place for place, row in enumerate(self._rows) if row.model.id in rows]
        for place in changed:
            self._rows[place] = rows[self._rows[place].model.id]
        if changed:  # only the columns that may differ: a table that is sorted by another need not be sorted again
            self.dataChanged.emit(self.index(changed[0], Column.MEMORY), self.index(changed[-1], Column.RUNNER))

    def explain_speed_by(self, basis: Callable[[Choice], str]) -> None:
        """Tell what a speed rests on by `basis`, where somebody asks for it."""
        self._speed_basis = basis

    @property
    def needs_engines(self) -> bool:
        """Whether there is a model that nothing here can run."""
        return any(row.runner for row in self._rows)

    def row(self, place: int) -> LibraryRow:
        """The row at `place`."""
        return self._rows[place]

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = Column(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in NUMBERS else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.CONTEXT:
            return text("The longest context, in tokens, that the model was trained for")
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.MEMORY:
            return text(
                "All that it needs at {count} tokens, or at what it was trained for", count=number(self._context)
            )
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.SPEED:
            return text("How fast it writes with {count} tokens in the cache: two of three times", count=number(DEPTH))
        return self._titles()[column] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole and column is Column.SPEED:
            return speed_in_words(row.speed)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return _SHOWN[column](row) or None
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.SPEED:
            return (self._speed_basis(row.choice) or None) if row.choice else None
        by_role = _BY_ROLE.get(role)
        return by_role(row, column) if by_role else None

    def _titles(self) -> Mapping[Column, str]:
        return {
            Column.MODEL: text("Model"),
            Column.FORMAT: text("Format"),
            Column.QUANT: text("Quant"),
            Column.SIZE: text("Size"),
            Column.CONTEXT: text("Trained for"),
            Column.MEMORY: text("Memory at {count}", count=number(self._context)),
            Column.FIT: text("Fit"),
            Column.SPEED: text("tok/s"),
            Column.RUNNER: text("Needs"),
            Column.STATE: text("State"),
        }


class LibraryFilter(QSortFilterProxyModel):
    """Sorts by value, unknown last; filters by the words typed."""

    def __init__(self, source: LibraryModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self._model = source
        self.setSourceModel(source)
        self.sort(Column.MODEL)

    def search(self, typed: str) -> None:
        """Show the rows that hold all typed words."""
        self.beginFilterChange()
        self._words = typed.casefold().split()
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def row(self, index: _Index) -> LibraryRow:
        """The row that `index` of this filter stands for."""
        return self._model.row(self.mapToSource(index).row())

    def filterAcceptsRow(self, source_row: int, source_parent: _Index) -> bool:
        del source_parent
        held = _searched(self._model.row(source_row))
        return all(word in held for word in self._words)

    def lessThan(self, left: _Index, right: _Index) -> bool:
        column = Column(left.column())
        one, other = (_SORTED[column](self._model.row(index.row())) for index in (left, right))
        return one < other


def _context(row: LibraryRow) -> int | None:
    return row.model.info.context_length if row.model.info else None


def _shown_number(value: int | None) -> str:
    return text("unknown") if value is None else number(value)


def _tip(row: LibraryRow, column: Column) -> str | None:
    return weight.basis(row.choice) if column in (Column.MEMORY, Column.FIT) and row.choice else None


def _badge(row: LibraryRow, column: Column) -> tuple[str, str] | None:
    if column is Column.FIT:
        return row.fit_badge
    return row.badge if column is Column.STATE else None


def _searched(row: LibraryRow) -> str:
    model = row.model
    return " ".join((model.title, model.format, model.quant or "", str(model.path))).casefold()


def _font(row: LibraryRow, column: Column) -> QFont | None:
    del row
    if column is not Column.MODEL:
        return None
    bold = QFont()
    bold.setWeight(QFont.Weight.DemiBold)
    return bold


_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_SHOWN: Mapping[Column, Callable[[LibraryRow], str]] = {
    Column.MODEL: lambda row: row.model.title,
    Column.FORMAT: lambda row: row.model.format.upper(),
    Column.QUANT: lambda row: row.model.quant or text("unknown"),
    Column.SIZE: lambda row: size(row.model.size_bytes),
    Column.CONTEXT: lambda row: _shown_number(_context(row)),
    Column.MEMORY: lambda row: row.figure,
    Column.FIT: lambda row: row.fit_badge[1] if row.fit_badge else "",
    Column.SPEED: lambda row: row.pace,
    Column.RUNNER: lambda row: row.runner,
    Column.STATE: lambda row: row.badge[1] if row.badge else "",
}

_SORTED: Mapping[Column, Callable[[LibraryRow], tuple[bool, float | str]]] = {
    Column.MODEL: lambda row: (False, row.model.title.casefold()),
    Column.FORMAT: lambda row: (False, row.model.format),
    Column.QUANT: lambda row: (row.model.quant is None, row.model.quant or ""),
    Column.SIZE: lambda row: (False, row.model.size_bytes),
    Column.CONTEXT: lambda row: (_context(row) is None, _context(row) or 0),
    Column.MEMORY: by_need,
    Column.FIT: by_fit,
    Column.SPEED: by_speed,
    Column.RUNNER: lambda row: (not row.runner, row.runner),
    Column.STATE: lambda row: (row.badge is None, row.badge[1] if row.badge else ""),
}

_BY_ROLE: Mapping[int, Callable[[LibraryRow, Column], object]] = {
    Qt.ItemDataRole.TextAlignmentRole: lambda row, column: _RIGHT if column in NUMBERS else _LEFT,
    Qt.ItemDataRole.FontRole: _font,
    Qt.ItemDataRole.ToolTipRole: _tip,
    BADGE_ROLE: _badge,
    CHIP_ROLE: lambda row, column: column is Column.FORMAT,
    BAR_ROLE: lambda row, column: row.memory if column is Column.MEMORY else None,
}
