"""What can be fetched of a repository, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.units import number, size
from weighbridge.base.words import text
from weighbridge.hub.offers import Offer
from weighbridge.hub.wanted import name_of
from weighbridge.ui.widgets.cells import BADGE_ROLE, CHIP_ROLE

_CHOICE, _FORMAT, _SIZE, _FILES, _PROBLEM = range(5)
_NUMBERS = (_SIZE, _FILES)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_NONE = QModelIndex()
_Index = QModelIndex | QPersistentModelIndex


class OffersModel(QAbstractTableModel):
    """One row an offer. What cannot be fetched says why, and cannot be chosen."""

    STRETCHED = _CHOICE
    GIVEN_UP = ((), (_FILES,), (_FILES, _FORMAT))
    """Columns that are left out for ever less room."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._offers: Sequence[Offer] = ()

    def show_offers(self, offers: Sequence[Offer]) -> None:
        """Show `offers`."""
        self.beginResetModel()
        self._offers = offers
        self.endResetModel()

    def offer(self, row: int) -> Offer | None:
        """The offer of a row."""
        return self._offers[row] if 0 <= row < len(self._offers) else None

    @property
    def has_problems(self) -> bool:
        """Whether one of them cannot be fetched."""
        return any(offer.problem is not None for offer in self._offers)

    def rowCount(self, parent: _Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self._offers)

    def columnCount(self, parent: _Index = _NONE) -> int:
        return 0 if parent.isValid() else len(_SHOWN)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if index.isValid() and self._offers[index.row()].plain is None:
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in _NUMBERS else _LEFT
        return _titles()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        offer, column = self._offers[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _SHOWN[column](offer)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in _NUMBERS else _LEFT
        if role == CHIP_ROLE and column == _FORMAT:
            return True
        return None if offer.problem is None else _of_problem(offer.problem, column, role)


def _of_problem(problem: WeighbridgeError, column: int, role: int) -> object:
    if role == Qt.ItemDataRole.ToolTipRole:
        return str(explain(problem))
    return ("no", text("Cannot be fetched")) if role == BADGE_ROLE and column == _PROBLEM else None


def _size_of(offer: Offer) -> str:
    return size(offer.plain.size_bytes if offer.plain else offer.variant.size_bytes)


def _files_of(offer: Offer) -> str:
    return number(len(offer.plain.files if offer.plain else offer.variant.files))


_SHOWN: Mapping[int, Callable[[Offer], str]] = {
    _CHOICE: lambda offer: name_of(offer.variant),
    _FORMAT: lambda offer: offer.variant.format.upper() if len(offer.variant.format) <= 4 else offer.variant.format,
    _SIZE: _size_of,
    _FILES: _files_of,
    _PROBLEM: lambda offer: "" if offer.problem is None else explain(offer.problem).what,
}


def _titles() -> Mapping[int, str]:
    return {
        _CHOICE: text("Choice"),
        _FORMAT: text("Format"),
        _SIZE: text("Size"),
        _FILES: text("Files"),
        _PROBLEM: "",
    }
