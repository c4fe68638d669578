"""The choices of a base model, over all formats, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from weighbridge.base.explain import explain
from weighbridge.base.units import number, size
from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.choices.words import verdict_in_words
from weighbridge.estimates.speed.speeds import DEPTH
from weighbridge.ui import weight
from weighbridge.ui.discover.rows import ChoiceRow
from weighbridge.ui.models.ordering import ordered
from weighbridge.ui.models.weighed import by_fit, by_need, by_speed
from weighbridge.ui.widgets.cells import CELL_ROLE, Cell

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_NONE = QModelIndex()


class Column(IntEnum):
    """The columns from the left."""

    CHOICE = 0
    FORMAT = 1
    SIZE = 2
    BITS = 3
    MEMORY = 4
    FIT = 5
    SPEED = 6
    OWNER = 7
    ACT = 8


NUMBERS = (Column.SIZE, Column.BITS, Column.MEMORY, Column.SPEED)


class ChoicesModel(QAbstractTableModel):
    """Sorted by any column, what was not looked into yet at the end. Rows that come or go reset it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._given: Sequence[ChoiceRow] = ()
        self._rows: list[ChoiceRow] = []
        self._column, self._descending = Column.SIZE, True
        self._context, self._elsewhere = 0, False
        self._speed_basis: Callable[[Choice], str] = lambda _choice: ""

    def explain_speed_by(self, basis: Callable[[Choice], str]) -> None:
        """Tell what a speed rests on by `basis`, where somebody asks for it."""
        self._speed_basis = basis

    def show_rows(self, rows: Sequence[ChoiceRow], context: int, *, elsewhere: bool = False) -> None:
        """Show `rows`, weighed at `context` tokens; `elsewhere`: for another machine than this one."""
        if (context, elsewhere) != (self._context, self._elsewhere):
            self._context, self._elsewhere = context, elsewhere
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, Column.MEMORY, Column.FIT)
        same = {row.key for row in rows} == {row.key for row in self._given}
        self._given = rows
        if same:
            self._arrange()
            return
        self.beginResetModel()
        self._rows = self._sorted()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._descending = Column(column), order == Qt.SortOrder.DescendingOrder
        self._arrange()

    def place_of(self, key: str) -> int | None:
        """Where the row with this key is; None where there is none."""
        return next((place for place, row in enumerate(self._rows) if row.key == key), None)

    def row(self, place: int) -> ChoiceRow:
        """The row at `place`."""
        return self._rows[place]

    @property
    def owners(self) -> set[str]:
        """Whose choices these are."""
        return {row.owner for row in self._rows}

    def rowCount(self, parent: _Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _NONE) -> int:
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in NUMBERS else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and section == Column.SPEED:
            return text("How fast it writes with {count} tokens in the cache: two of three times", count=number(DEPTH))
        if role == Qt.ItemDataRole.ToolTipRole and section == Column.BITS:
            return text("Bits per weight, in the mean")
        return self._titles()[Column(section)] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return _SHOWN[column](row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, column)
        if role == CELL_ROLE:
            return _cell(row, column)
        return (_RIGHT if column in NUMBERS else _LEFT) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _arrange(self) -> None:
        """The same rows, changed or in another order."""
        before, self._rows = self._rows, self._sorted()
        if [row.key for row in before] != [row.key for row in self._rows]:
            after, self._rows = self._rows, before
            self.layoutAboutToBeChanged.emit()
            self._rows = after
            kept = self.persistentIndexList()
            moved = [self.index(self.place_of(before[each.row()].key) or 0, each.column()) for each in kept]
            self.changePersistentIndexList(kept, moved)
            self.layoutChanged.emit()
        changed = [place for place, row in enumerate(self._rows) if row not in before[place : place + 1]]
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(Column) - 1))

    def _sorted(self) -> list[ChoiceRow]:
        key = _SORTED[self._column]
        return ordered(
            self._given, lambda row: (True, 0) if row.offered.offer is None else key(row), descending=self._descending
        )

    def _tip(self, row: ChoiceRow, column: Column) -> str | None:
        if column is Column.CHOICE:
            return _place(row)
        problem = row.problem or row.failed
        if problem is not None:
            return str(explain(problem))
        choice = row.weighed.choice if row.weighed else None
        if choice is None:
            return None
        if column is Column.SPEED:
            return self._speed_basis(choice) or None
        if column is Column.FIT and row.weighed is not None:
            needs = (verdict_in_words(choice.fit), row.weighed.runner) if row.needs else ()
            return "\n".join((*needs, weight.basis(choice)))
        return weight.basis(choice) if column is Column.MEMORY else None

    def _titles(self) -> Mapping[Column, str]:
        return {
            Column.CHOICE: text("Choice"),
            Column.FORMAT: text("Format"),
            Column.SIZE: text("Size"),
            Column.BITS: text("Bits"),
            Column.MEMORY: text("Memory at {count}", count=number(self._context)),
            Column.FIT: text("On that machine") if self._elsewhere else text("On this machine"),
            Column.SPEED: text("tok/s"),
            Column.OWNER: text("From"),
            Column.ACT: "",
        }


def _place(row: ChoiceRow) -> str:
    spot = row.offered.spot
    return spot.repo_id if spot.revision == "main" else f"{spot.repo_id} · {spot.revision}"


def _spoken(row: ChoiceRow, column: Column) -> str:
    shown = _SHOWN[column](row)
    if column is Column.SPEED and row.weighed is not None:
        return speed_in_words(row.weighed.speed)
    if column is Column.CHOICE and row.recommended:
        return text("{choice}, recommended", choice=shown)
    return shown


def _fit(row: ChoiceRow) -> str:
    if row.fit_badge:
        return row.fit_badge[1]
    if row.offered.offer is not None:
        return ""
    return text("Looking…") if row.is_looked_at else text("Not looked into yet")


def _bits(row: ChoiceRow) -> str:
    return "" if row.offered.offer is None else "–" if row.bits is None else number(row.bits, 2)


def _size(row: ChoiceRow) -> str:
    return "" if row.offered.offer is None else size(row.size_bytes)


def _owner(row: ChoiceRow) -> str:
    return text("{owner} · gated", owner=row.owner) if row.is_gated else row.owner


def _marked(row: ChoiceRow, column: Column) -> tuple[str, str] | None:
    return ("star", text("recommended")) if row.recommended and column is Column.CHOICE else None


def _cell(row: ChoiceRow, column: Column) -> Cell:
    """All that is painted of a cell."""
    return Cell(
        shown=_SHOWN[column](row),
        aligned=_RIGHT if column in NUMBERS else _LEFT,
        strong=column is Column.CHOICE and row.offered.offer is not None,
        badge=row.fit_badge if column is Column.FIT else None,
        chip=column is Column.FORMAT and bool(row.format),
        button=column is Column.ACT and bool(row.act_in_words),
        mark=_marked(row, column),
        memory=row.weighed.memory if row.weighed and column is Column.MEMORY else None,
    )


_SHOWN: Mapping[Column, Callable[[ChoiceRow], str]] = {
    Column.CHOICE: lambda row: row.title,
    Column.FORMAT: lambda row: row.format,
    Column.SIZE: _size,
    Column.BITS: _bits,
    Column.MEMORY: lambda row: row.weighed.figure if row.weighed else "",
    Column.FIT: _fit,
    Column.SPEED: lambda row: row.weighed.pace if row.weighed else "",
    Column.OWNER: _owner,
    Column.ACT: lambda row: row.act_in_words,
}

_SORTED: Mapping[Column, Callable[[ChoiceRow], tuple[bool, float | str]]] = {
    Column.CHOICE: lambda row: (False, row.title.casefold()),
    Column.FORMAT: lambda row: (not row.format, row.format),
    Column.SIZE: lambda row: (row.size_bytes is None, row.size_bytes or 0),
    Column.BITS: lambda row: (row.bits is None, row.bits or 0.0),
    Column.MEMORY: lambda row: by_need(row.weighed) if row.weighed else (True, 0),
    Column.FIT: lambda row: by_fit(row.weighed) if row.weighed else (True, 0),
    Column.SPEED: lambda row: by_speed(row.weighed) if row.weighed else (True, 0),
    Column.OWNER: lambda row: (False, row.owner.casefold()),
    Column.ACT: lambda row: (row.act is None, row.act_in_words),
}
