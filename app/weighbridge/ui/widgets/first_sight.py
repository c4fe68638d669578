"""What stands in the window until the Library's page is there: its models as they were listed at the last look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from weighbridge.base.words import text
from weighbridge.ui.glimpse import COLUMNS, Glimpse, Row
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.cells import CELL_ROLE, Cell, CellDelegate
from weighbridge.ui.widgets.parts import column, label, panel
from weighbridge.ui.widgets.tables import Table

_Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_MODEL, _SOURCE, _FORMAT, _QUANT, _SIZE, _CONTEXT = range(COLUMNS)
_CHIPS, _NUMBERS = (_SOURCE, _FORMAT), (_SIZE, _CONTEXT)
_MARGIN, _GAP = 4, 3
_GIVEN_UP = ((), (_FORMAT,), (_FORMAT, _CONTEXT))


class FirstSight(QWidget):
    """Shows `glimpse`, its table where that of the page will stand; there is nothing to do with it yet."""

    def __init__(self, theme: Theme, glimpse: Glimpse, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = Table(_Rows(glimpse.rows), text("Models"), _MODEL, _GIVEN_UP)
        self.table.model().setParent(self.table)
        self.table.setItemDelegate(CellDelegate(theme, self.table))
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        held = panel(self.table, margin=0)
        held.setContentsMargins(1, 1, 1, 1)
        title = label(text("Library"), "title")
        theme.dress(title)  # its height is of its style
        whole = column(title, held, owner=self, margin=_MARGIN, gap=_GAP)
        whole.insertSpacing(1, max(0, glimpse.top_px - (_MARGIN + _GAP) * STEP - title.sizeHint().height()))
        whole.setStretch(2, 1)


class _Rows(QAbstractTableModel):
    """The rows as a table, which stays as it is."""

    def __init__(self, rows: Sequence[Row], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self._titles = (text("Model"), text("Source"), text("Format"), text("Quant"), text("Size"), text("Trained for"))

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else COLUMNS

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in _NUMBERS else _LEFT
        return self._titles[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        shown, at = self._rows[index.row()][index.column()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return shown
        if role == CELL_ROLE:
            return Cell(shown, _RIGHT if at in _NUMBERS else _LEFT, strong=at == _MODEL, chip=at in _CHIPS)
        return None
