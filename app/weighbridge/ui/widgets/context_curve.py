"""The KV cache against the context: a small curve, with a mark at the context that is weighed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from weighbridge.base.units import size, tokens
from weighbridge.base.words import text
from weighbridge.ui.theme import Theme

_WIDEST = 40
"""In heights of a line: a longer one says no more."""


class ContextCurve(QWidget):
    """Shows `points` of (tokens, bytes); its description says what it shows."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._points: Sequence[tuple[int, int]] = ()
        self._at = 0
        self._at_bytes = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text("KV cache against context"))
        theme.changed.connect(self.update)

    def show_curve(self, points: Sequence[tuple[int, int]], context: int, cache_bytes: int) -> None:
        """Draw `points`, and mark `context`, at which the cache takes `cache_bytes`."""
        self._points, self._at, self._at_bytes = points, context, cache_bytes
        if points:
            most_tokens, most_bytes = points[-1]
            self.setAccessibleDescription(
                text("{size} at {tokens}, rising to {most} at {longest}", size=size(cache_bytes),
                     tokens=tokens(context), most=size(most_bytes), longest=tokens(most_tokens))
            )  # fmt: skip
            self.setToolTip(self.accessibleDescription())
        self.update()

    def sizeHint(self) -> QSize:
        height = self.fontMetrics().height()
        return QSize(height * 16, height * 6)

    def minimumSizeHint(self) -> QSize:
        height = self.fontMetrics().height()
        return QSize(height * 10, height * 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if not self._points:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens_of, line = self._theme.tokens, self.fontMetrics().height()
        wide = min(self.width(), line * _WIDEST) - 4
        plot = QRectF(2, line + 4, wide, self.height() - 2 * line - 8)
        painter.setPen(QPen(QColor(tokens_of.line), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        self._paint_curve(painter, plot)
        painter.setPen(QColor(tokens_of.dim))
        most_tokens, most_bytes = self._points[-1]
        here = text("KV cache: {size} at {tokens}", size=size(self._at_bytes), tokens=tokens(self._at))
        _paint_ends(painter, QRectF(plot.left(), 0, wide, line), here, size(most_bytes))
        _paint_ends(painter, QRectF(plot.left(), plot.bottom() + 3, wide, line), "0", tokens(most_tokens))

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


def _paint_ends(painter: QPainter, place: QRectF, left: str, right: str) -> None:
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft, left)
    painter.drawText(place, Qt.AlignmentFlag.AlignRight, right)
