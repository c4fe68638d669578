"""The surface that messages lie on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from weighbridge.ui.theme import Theme


class Sheet(QWidget):
    """Paints all of itself in the window's colour.

    Being opaque, it is scrolled by moving its pixels; being static, its growth draws only what is new. Without the two,
    all messages in sight were drawn again at each tick of an answer: half of what streaming costs.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(self._theme.tokens.window))
        painter.end()
