"""The requests that Weighbridge made, as a table, the newest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from weighbridge.base.words import text
from weighbridge.hub.network import Request
from weighbridge.ui import network_words as words
from weighbridge.ui.widgets.cells import BADGE_ROLE

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TIME, _HOST, _PURPOSE, _RECEIVED, _TOOK, _STATUS = range(6)
_NUMBERS = (_RECEIVED, _TOOK)
_ROOT = QModelIndex()


class NetworkModel(QAbstractTableModel):
    """One row a request. It is told all of them each time, and tells its views what is new, gone or changed."""

    STRETCHED = _PURPOSE
    GIVEN_UP = ((), (_TOOK,))
    """Columns that are left out for ever less room."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Request] = []

    @property
    def requests(self) -> Sequence[Request]:
        """The requests shown, the newest first."""
        return tuple(self._rows)

    def show_requests(self, requests: Sequence[Request]) -> None:
        """Show `requests`, given oldest first."""
        rows = list(reversed(requests))
        new = next((place for place, each in enumerate(rows) if self._rows and self._is_first(each)), None)
        kept = 0 if new is None else min(len(self._rows), len(rows) - new)
        if new is None or not _are_same(rows[new : new + kept], self._rows[:kept]) or new + kept < len(rows):
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        self._drop(kept)
        self._insert(rows[:new])
        self._change(rows)

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(_SHOWN)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in _NUMBERS else _LEFT
        return _titles()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        request, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _SHOWN[column](request)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in _NUMBERS else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and column in (_HOST, _PURPOSE):
            return _SHOWN[column](request)
        return words.badge_of(request) if role == BADGE_ROLE and column == _STATUS else None

    def _is_first(self, request: Request) -> bool:
        return request.number == self._rows[0].number

    def _drop(self, kept: int) -> None:
        """The oldest are forgotten."""
        if kept < len(self._rows):
            self.beginRemoveRows(_ROOT, kept, len(self._rows) - 1)
            del self._rows[kept:]
            self.endRemoveRows()

    def _insert(self, new: list[Request]) -> None:
        if new:
            self.beginInsertRows(_ROOT, 0, len(new) - 1)
            self._rows[:0] = new
            self.endInsertRows()

    def _change(self, rows: list[Request]) -> None:
        """Tell the rows of which more is known now, as one stretch: they are the newest."""
        changed = [place for place, each in enumerate(rows) if each is not self._rows[place]]
        self._rows = rows
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], _STATUS))


def _are_same(first: Sequence[Request], second: Sequence[Request]) -> bool:
    return [each.number for each in first] == [each.number for each in second]


_SHOWN: Mapping[int, Callable[[Request], str]] = {
    _TIME: words.time_in_words,
    _HOST: lambda request: request.host,
    _PURPOSE: words.purpose_in_words,
    _RECEIVED: words.received_in_words,
    _TOOK: words.took_in_words,
    _STATUS: words.status_in_words,
}


def _titles() -> Mapping[int, str]:
    return {
        _TIME: text("Time"),
        _HOST: text("Host"),
        _PURPOSE: text("Purpose"),
        _RECEIVED: text("Received"),
        _TOOK: text("Took"),
        _STATUS: text("Status"),
    }
