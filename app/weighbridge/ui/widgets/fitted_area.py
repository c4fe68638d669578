"""A panel's content that gives way: as high as it is where there is room, scrolled where there is not."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

LEAST_LINES = 7
"""Lines of text that stay in sight, unless fewer are asked for."""


class FittedArea(QScrollArea):
    """Shows `inner`. Never higher than it, and down to a few lines where others need the room."""

    def __init__(self, inner: QWidget) -> None:
        super().__init__()
        inner.setObjectName("scrolled")
        self._inner = inner
        self._least_lines = LEAST_LINES
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setWidget(inner)

    def keep_lines(self, least: int) -> None:
        """Keep so many lines of text in sight where others need the room."""
        if least != self._least_lines:
            self._least_lines = least
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        inner = self._inner
        wide = self.width()
        high = inner.heightForWidth(wide) if inner.hasHeightForWidth() else inner.sizeHint().height()
        return QSize(inner.sizeHint().width(), high)

    def minimumSizeHint(self) -> QSize:
        least = self.fontMetrics().lineSpacing() * self._least_lines
        return QSize(self._inner.minimumSizeHint().width(), min(least, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The content asks for another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
