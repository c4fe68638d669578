"""A table of weighed models, here or on the Hub: sorted by its titles, acted on by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent

from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.cells import CellDelegate
from weighbridge.ui.widgets.tables import Table


class WeighedTable(Table):
    """Sorted by a click on a title. Of the steps of `given_up`, the first `with_bars` have bars in the column `memory`.

    `entered`: Enter on the chosen row. `menu_wanted`: where a menu is asked for on it.
    """

    entered = Signal()
    menu_wanted = Signal(QPoint)

    def __init__(
        self,
        theme: Theme,
        model: QAbstractItemModel,
        name: str,
        stretched: int,
        given_up: Sequence[Sequence[int]],
        memory: int,
        with_bars: int,
        least_ems: int = 12,
        most_ems: int = 22,
    ) -> None:
        self._cells = CellDelegate(theme)
        self._memory, self._with_bars = memory, with_bars
        super().__init__(model, name, stretched, given_up, least_ems, most_ems)
        for part in (model, self._cells):
            part.setParent(self)
        self.setItemDelegate(self._cells)
        self.setSortingEnabled(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Menu:
            self._ask_menu(self.visualRect(self.currentIndex()).center())
        else:
            super().keyPressEvent(event)

    def use_step(self, place: int) -> Sequence[int]:
        with_bars = place < self._with_bars
        if self._cells.with_bars is with_bars:
            return ()
        self._cells.with_bars = with_bars
        return (self._memory,)

    def _ask_menu(self, place: QPoint) -> None:
        if self.currentIndex().isValid():
            self.menu_wanted.emit(self.viewport().mapToGlobal(place))
