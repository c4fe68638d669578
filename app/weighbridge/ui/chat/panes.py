"""Three panes side by side. In a narrow window the side panes give way, the right one first."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import row

LEAST_MIDDLE_EMS = 38
"""How wide the middle is at least beside a pane that nobody asked for, in heights of the font."""


class Panes(QWidget):
    """Shows `left` and `right` where there is room, unless the user said otherwise."""

    arranged = Signal()

    def __init__(self, left: QWidget, middle: QWidget, right: QWidget) -> None:
        super().__init__()
        self._left = left
        self._middle = middle
        self._right = right
        self._left_wanted: bool | None = None
        self._right_wanted: bool | None = None
        line = row(left, middle, right, owner=self, gap=3)
        line.setStretch(1, 1)

    def toggle_left(self) -> None:
        """Show the left pane, or hide it."""
        self._left_wanted = self._left.isHidden()
        if self._left_wanted and not self._has_room_for(self._left, self._right):
            self._right_wanted = False
        self._arrange()

    def toggle_right(self) -> None:
        """Show the right pane, or hide it."""
        self._right_wanted = self._right.isHidden()
        if self._right_wanted and not self._has_room_for(self._left, self._right):
            self._left_wanted = False
        elif not self._right_wanted and self._left_wanted is False:
            self._left_wanted = None
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        """The middle's: the side panes never keep a window from being made narrower."""
        return QSize(self._middle.minimumSizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._arrange()

    def _arrange(self) -> None:
        right = self._right_wanted
        show_right = self._has_room_for(self._left, self._right) if right is None else right
        beside = (self._left, self._right) if show_right else (self._left,)
        left = self._left_wanted
        self._left.setVisible(self._has_room_for(*beside) if left is None else left)
        self._right.setVisible(show_right)
        self.arranged.emit()

    def _has_room_for(self, *panes: QWidget) -> bool:
        least = LEAST_MIDDLE_EMS * self.fontMetrics().height()
        return self.width() - sum(pane.maximumWidth() + 3 * STEP for pane in panes) >= least
