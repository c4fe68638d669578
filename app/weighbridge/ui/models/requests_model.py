"""The last requests to the port as a table, the newest first."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from weighbridge.base.units import number, seconds
from weighbridge.base.words import text
from weighbridge.server.requests import HUNG_UP, RequestRow
from weighbridge.ui.widgets.cells import BADGE_ROLE

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TIME, _WHAT, _MODEL, _STATUS, _PROMPT, _OUTPUT, _TOOK, _FROM = range(8)


class RequestsModel(QAbstractTableModel):
    """One row a request that is over."""

    STRETCHED = _MODEL
    GIVEN_UP = ((), (_FROM,), (_FROM, _PROMPT), (_FROM, _PROMPT, _TIME))
    """Columns that are left out for ever less room."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[RequestRow] = []

    def show_rows(self, rows: Sequence[RequestRow]) -> None:
        """Show `rows`, given oldest first."""
        self.beginResetModel()
        self._rows = list(reversed(rows))
        self.endResetModel()

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(_SHOWN)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in _NUMBERS else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and section in (_PROMPT, _OUTPUT):
            return text("In tokens; empty where it is not known")
        return _titles()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _SHOWN[column](row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in _NUMBERS else _LEFT
        if role == BADGE_ROLE and column == _STATUS:
            return ("fits" if row.complete and row.status < 400 else "no"), status_in_words(row)
        return None


def status_in_words(row: RequestRow) -> str:
    """The status, and whether the answer broke off or the caller hung up."""
    if row.status == HUNG_UP:
        return text("hung up")
    if row.complete or row.status >= 400:
        return str(row.status)
    return text("{status}, broken off", status=row.status)


_NUMBERS = (_PROMPT, _OUTPUT, _TOOK)

_SHOWN: Mapping[int, Callable[[RequestRow], str]] = {
    _TIME: lambda row: time.strftime("%H:%M:%S", time.localtime(row.time_s)),
    _WHAT: lambda row: f"{row.method} {row.route}",
    _MODEL: lambda row: row.model or "",
    _STATUS: status_in_words,
    _PROMPT: lambda row: "" if row.prompt_tokens is None else number(row.prompt_tokens),
    _OUTPUT: lambda row: "" if row.output_tokens is None else number(row.output_tokens),
    _TOOK: lambda row: seconds(row.duration_ms),
    _FROM: lambda row: row.client,
}


def _titles() -> Mapping[int, str]:
    return {
        _TIME: text("Time"),
        _WHAT: text("Request"),
        _MODEL: text("Model"),
        _STATUS: text("Status"),
        _PROMPT: text("Prompt"),
        _OUTPUT: text("Answer"),
        _TOOK: text("Took"),
        _FROM: text("From"),
    }
