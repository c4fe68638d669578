"""A dim line that gives way: cut with "…" where there is little room, whole in its tool tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

_LEAST_LETTERS = 6
"""So few of a longer text say nothing."""


class ElidedLabel(QLabel):
    """Needs no more width than `least_ems` heights of its font. It stands at the right unless `at_left`. `in_middle`:
    cut there, as suits a path, of which both ends tell something.
    """

    def __init__(
        self, parent: QWidget | None = None, *, at_left: bool = False, in_middle: bool = False, least_ems: int = 0
    ) -> None:
        super().__init__(parent)
        self._least_ems = least_ems
        self._cut = Qt.TextElideMode.ElideMiddle if in_middle else Qt.TextElideMode.ElideRight
        self.setProperty("role", "dim")
        self.setTextFormat(Qt.TextFormat.PlainText)
        side = Qt.AlignmentFlag.AlignLeft if at_left else Qt.AlignmentFlag.AlignRight
        self.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), self._least_ems * self.fontMetrics().height()), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(self.text(), self._cut, self.width())
        painter.setPen(self.palette().color(self.foregroundRole()))
        if shown == self.text() or len(shown) > _LEAST_LETTERS:
            painter.drawText(self.rect(), self.alignment(), shown)
        painter.end()
        self.setToolTip(self.text() if shown != self.text() else "")
