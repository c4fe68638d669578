"""Two parts beside each other, or below each other where there is no room for both."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

from weighbridge.ui.widgets.parts import row


class Beside(QWidget):
    """`first` takes the free room, down to its minimum or `least_ems` heights of the font; `second` is as wide as it
    wants to be, at the right.
    """

    def __init__(self, first: QWidget, second: QWidget, gap: int = 2, least_ems: int = 0) -> None:
        super().__init__()
        self._least_ems = least_ems
        self._parts = (first, second)
        self._row = row(first, second, owner=self, gap=gap)
        self._row.setStretch(0, 1)
        self._row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # it gives way by turning

    def minimumSizeHint(self) -> QSize:
        widest = max(part.minimumSizeHint().width() for part in self._parts if not part.isHidden())
        return QSize(widest, self._row.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        first, second = self._parts
        least = max(first.minimumSizeHint().width(), self._least_ems * self.fontMetrics().height())
        wanted = least + self._row.spacing() + second.sizeHint().width()
        below = wanted > self.width() and not first.isHidden()
        turned = QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        if turned != self._row.direction():
            self._row.setDirection(turned)
            self._row.setAlignment(second, Qt.AlignmentFlag.AlignLeft if below else Qt.AlignmentFlag(0))
            self.updateGeometry()
