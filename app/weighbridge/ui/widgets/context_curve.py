"""The KV cache against the context: a small curve, with a mark at the context that is weighed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from weighbridge.base.units import number, size, tokens
from weighbridge.base.words import text
from weighbridge.ui.theme import Theme


class ContextCurve(QWidget):
    """Shows `points` of (tokens, bytes); its description says what it shows."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._points: Sequence[tuple[int, int]] = ()
        self._at = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text("KV cache against context"))
        theme.changed.connect(self.update)

    def show_curve(self, points: Sequence[tuple[int, int]], context: int) -> None:
        """Draw `points`, and mark `context`."""
        self._points, self._at = points, context
        if points:
            most_tokens, most_bytes = points[-1]
            self.setAccessibleDescription(
                text("{size} at {tokens}, rising to {most} at {longest}", size=size(self._bytes_at(context)),
                     tokens=tokens(context), most=size(most_bytes), longest=tokens(most_tokens))
            )  # fmt: skip
            self.setToolTip(self.accessibleDescription())
        self.update()

    def sizeHint(self) -> QSize:
        height = self.fontMetrics().height()
        return QSize(height * 16, height * 5)

    def minimumSizeHint(self) -> QSize:
        height = self.fontMetrics().height()
        return QSize(height * 10, height * 5)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if not self._points:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens_of, line = self._theme.tokens, self.fontMetrics().height()
        plot = QRectF(self.rect()).adjusted(2, line * 0.5, -2, -line - 2)
        painter.setPen(QPen(QColor(tokens_of.line), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        self._paint_curve(painter, plot)
        painter.setPen(QColor(tokens_of.dim))
        below = QRectF(plot.left(), plot.bottom() + 2, plot.width(), line)
        most_tokens, most_bytes = self._points[-1]
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, "0")
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, number(most_tokens))
        top = QRectF(plot.left(), 0, plot.width(), line)
        painter.drawText(top, Qt.AlignmentFlag.AlignLeft, size(most_bytes))

    def _paint_curve(self, painter: QPainter, plot: QRectF) -> None:
        tokens_of = self._theme.tokens
        line = QPolygonF([plot.bottomLeft(), *(self._place(plot, *point) for point in self._points)])
        painter.setPen(QPen(QColor(tokens_of.kv), 2))
        painter.drawPolyline(line)
        x = self._place(plot, min(self._at, self._points[-1][0]), 0).x()
        painter.setPen(QPen(QColor(tokens_of.text), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))

    def _place(self, plot: QRectF, count: int, amount: int) -> QPointF:
        most_tokens, most_bytes = self._points[-1]
        across = count / most_tokens if most_tokens else 0.0
        up = amount / most_bytes if most_bytes else 0.0
        return QPointF(plot.left() + plot.width() * across, plot.bottom() - plot.height() * up)

    def _bytes_at(self, context: int) -> int:
        return next((amount for count, amount in self._points if count >= context), self._points[-1][1])
