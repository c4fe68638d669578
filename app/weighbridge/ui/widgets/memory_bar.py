"""A memory as a stacked bar. Each part tells what it is in words, to the mouse and to the keyboard alike."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QHelpEvent, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from weighbridge.ui.memory_parts import Memory, Part, in_words, mark_at, spans
from weighbridge.ui.theme import Theme
from weighbridge.ui.tokens import Tokens

_FIXED = QSizePolicy.Policy.Fixed
_RADIUS = 3.0


def paint_memory(
    painter: QPainter, bar: QRectF, memory: Memory | None, tokens: Tokens, *, with_limit: bool = True
) -> None:
    """Paint `memory` in `bar`; None is an empty track."""
    path = QPainterPath()
    path.addRoundedRect(bar, _RADIUS, _RADIUS)
    painter.save()
    painter.setClipPath(path)
    painter.fillRect(bar, QColor(tokens.track))
    parts = memory.ordered if memory else ()
    places = spans(parts, memory.total_bytes if memory else 0, bar.width())
    for part, (left, wide) in zip(parts, places, strict=True):
        if part.kind != "free":
            painter.fillRect(QRectF(bar.left() + left, bar.top(), wide, bar.height()), _colour(part, tokens))
    painter.restore()
    marked = mark_at(memory) if memory is not None and with_limit else None
    if marked is not None:
        x = bar.left() + bar.width() * marked
        painter.fillRect(QRectF(x - 1, bar.top() - 2, 2, bar.height() + 4), QColor(tokens.text))


def _colour(part: Part, tokens: Tokens) -> QColor:
    return QColor(getattr(tokens, part.kind))


class MemoryBar(QWidget):
    """Shows a `Memory`. Left and Right go from part to part while it has the focus; `thick` is for pages."""

    def __init__(self, theme: Theme, thick: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._thick = thick
        self._memory: Memory | None = None
        self._at = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding if thick else QSizePolicy.Policy.Preferred, _FIXED)
        self.setAccessibleName("-")
        theme.changed.connect(self.update)

    @property
    def memory(self) -> Memory | None:
        """What is shown."""
        return self._memory

    def show_memory(self, memory: Memory) -> None:
        """Show `memory`."""
        if memory == self._memory:
            return
        self._memory = memory
        self._at = min(self._at, len(memory.ordered) - 1)
        self.setAccessibleName(memory.name)
        self.setAccessibleDescription(". ".join(in_words(part, memory) for part in memory.ordered))
        self.update()

    def words_at(self, x: float) -> str:
        """What is said of the part at `x` pixels; empty outside."""
        if self._memory is None:
            return ""
        parts = self._memory.ordered
        for part, (left, wide) in zip(parts, self._spans(), strict=True):
            if left <= x < left + wide:
                return in_words(part, self._memory)
        return ""

    def sizeHint(self) -> QSize:
        height = self.fontMetrics().height()
        return QSize(height * 24, height + 4) if self._thick else QSize(height * 7, height)

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(hint.width() // 3, hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = self._bar()
        paint_memory(painter, bar, self._memory, self._theme.tokens)
        if self.hasFocus():
            self._paint_focus(painter, bar)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or self._memory is None:
            super().keyPressEvent(event)
            return
        self._at = (self._at + step) % len(self._memory.ordered)
        self._say()
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self._say()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        QToolTip.hideText()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.words_at(event.pos().x()), self)
            return True
        return super().event(event)

    def _say(self) -> None:
        if self._memory is None:
            return
        left, wide = self._spans()[self._at]
        place = self.mapToGlobal(QPoint(round(left + wide / 2), self.height()))
        QToolTip.showText(place, in_words(self._memory.ordered[self._at], self._memory), self)

    def _bar(self) -> QRectF:
        inner = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        if not self._thick:
            thin = max(6.0, inner.height() / 2)
            inner = QRectF(inner.left(), inner.center().y() - thin / 2, inner.width(), thin)
        return inner

    def _spans(self) -> list[tuple[float, float]]:
        if self._memory is None:
            return []
        bar = self._bar()
        found = spans(self._memory.ordered, self._memory.total_bytes, bar.width())
        return [(bar.left() + left, wide) for left, wide in found]

    def _paint_focus(self, painter: QPainter, bar: QRectF) -> None:
        painter.setPen(QPen(QColor(self._theme.tokens.accent), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(bar.adjusted(-1.5, -1.5, 1.5, 1.5), 4, 4)
