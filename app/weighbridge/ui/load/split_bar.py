"""How cards share the layers, as one bar: its borders are dragged, or moved by the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from weighbridge.base.units import number
from weighbridge.base.words import text
from weighbridge.ui.theme import Theme

_NEAR = 8
"""Pixels within which a border is taken hold of."""
_COLOURS = ("weights", "state", "kv", "compute")


class SplitBar(QWidget):
    """Shares of several cards, in percent. `split` is emitted with whole percents as the user moves a border.

    Left and Right move the chosen border by one percent, with Shift by ten; Up and Down choose another one.
    """

    split = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._names: tuple[str, ...] = ()
        self._shares: tuple[int, ...] = ()
        self._chosen = 0
        self._held: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text("Split of the layers over the cards"))
        theme.changed.connect(self.update)

    @property
    def shares(self) -> tuple[int, ...]:
        """The shares in percent."""
        return self._shares

    def show_shares(self, names: Sequence[str], shares: Sequence[float]) -> None:
        """Show the shares of cards, in any measure."""
        self._names, self._shares = tuple(names), percents(shares)
        self._chosen = min(self._chosen, max(0, len(names) - 2))
        told = (text("{card}: {share} %", card=name, share=one) for name, one in zip(names, self._shares, strict=True))
        self.setAccessibleDescription(", ".join(told))
        self.setToolTip(self.accessibleDescription())
        self.update()

    def sizeHint(self) -> QSize:
        em = self.fontMetrics().height()
        return QSize(em * 20, em * 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().height() * 10, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens, bar, left = self._theme.tokens, self._bar(), 0.0
        for place, (name, share) in enumerate(zip(self._names, self._shares, strict=True)):
            wide = bar.width() * share / 100
            part = QRectF(bar.left() + left, bar.top(), max(0.0, wide - 2), bar.height())
            colour = QColor(getattr(tokens, _COLOURS[place % len(_COLOURS)]))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.track))
            painter.drawRoundedRect(part, 3, 3)
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(part.left(), part.bottom() - 4, part.width(), 4), 2, 2)
            said = f"{name}  {number(share)}\u202f%"
            room = self.fontMetrics().elidedText(said, Qt.TextElideMode.ElideMiddle, int(part.width()) - 12)
            painter.setPen(QColor(tokens.text))
            painter.drawText(part.adjusted(6, 0, -6, -4), Qt.AlignmentFlag.AlignVCenter, room)
            left += wide
        self._paint_borders(painter, bar)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._held = self._border_at(event.position())
        if self._held is not None:
            self._chosen = self._held
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        near = self._held is not None or self._border_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.SplitHCursor if near else Qt.CursorShape.ArrowCursor)
        if self._held is not None:
            bar = self._bar()
            self._move_to(self._held, round(100 * (event.position().x() - bar.left()) / max(1.0, bar.width())))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        del event
        self._held = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, borders = Qt.Key(event.key()), self._borders()
        if not borders or key not in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._chosen = (self._chosen + (1 if key == Qt.Key.Key_Down else -1)) % len(borders)
            self.update()
        else:
            step = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            self._move_to(self._chosen, borders[self._chosen] + (step if key == Qt.Key.Key_Right else -step))

    def _bar(self) -> QRectF:
        return QRectF(self.rect()).adjusted(2, 3, -2, -3)

    def _borders(self) -> list[int]:
        """Where each border lies, in percent."""
        return list(accumulate(self._shares))[:-1]

    def _border_at(self, place: QPointF) -> int | None:
        bar = self._bar()
        away = [abs(bar.left() + bar.width() * each / 100 - place.x()) for each in self._borders()]
        nearest = min(range(len(away)), key=away.__getitem__, default=None)
        return nearest if nearest is not None and away[nearest] <= _NEAR else None

    def _move_to(self, border: int, percent: int) -> None:
        ends = [0, *self._borders(), 100]
        ends[border + 1] = max(ends[border], min(ends[border + 2], percent))
        shares = tuple(after - before for before, after in pairwise(ends))
        if shares != self._shares:
            self.show_shares(self._names, shares)
            self.split.emit(shares)

    def _paint_borders(self, painter: QPainter, bar: QRectF) -> None:
        for place, each in enumerate(self._borders()):
            x = bar.left() + bar.width() * each / 100 - 1
            focused = self.hasFocus() and place == self._chosen
            tokens = self._theme.tokens
            painter.setPen(QPen(QColor(tokens.accent if focused else tokens.dim), 3 if focused else 2))
            painter.drawLine(QPointF(x, bar.top() - 2), QPointF(x, bar.bottom() + 2))


def percents(shares: Sequence[float]) -> tuple[int, ...]:
    """The shares as whole percents that make 100 together; equal where all are 0."""
    whole = sum(shares)
    told = [each / whole for each in shares] if whole > 0 else [1 / len(shares)] * len(shares) if shares else []
    ends = [round(100 * each) for each in accumulate(told, initial=0.0)]
    return tuple(after - before for before, after in pairwise(ends))
