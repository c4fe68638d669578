"""The parts of a memory named below its bar: a swatch of the colour, the word, and the figure."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from weighbridge.base.units import size
from weighbridge.ui.memory_parts import Memory, Part
from weighbridge.ui.theme import STEP, Theme


class Legend(QWidget):
    """Wraps to the width it is given. It repeats what the bar tells, so it takes no focus."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._memory: Memory | None = None
        theme.changed.connect(self.update)

    def show_memory(self, memory: Memory) -> None:
        """Name the parts of `memory`."""
        self._memory = memory
        self._grow()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grow()

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().height() * 10, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self._memory is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = self._theme.tokens
        for (part, said), place in zip(self._items(), self._places(self.width()), strict=True):
            side = self._side()
            swatch = QRect(place.left(), place.center().y() - side // 2, side, side)
            free = part.kind == "free"
            painter.setPen(QPen(QColor(tokens.dim), 1) if free else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.track if free else getattr(tokens, part.kind)))
            painter.drawRoundedRect(swatch, 2, 2)
            painter.setPen(QColor(tokens.dim))
            words = place.adjusted(side + STEP + 2, 0, 0, 0)
            metrics, whole = painter.fontMetrics(), place.right() < self.width() - 1
            shown = said if whole else metrics.elidedText(said, Qt.TextElideMode.ElideMiddle, words.width())
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _grow(self) -> None:
        places = self._places(self.width())
        self.setFixedHeight(places[-1].bottom() + 1 if places else self.fontMetrics().height())

    def _items(self) -> list[tuple[Part, str]]:
        """The parts and what is said of each; an owner is named once, before the first of its parts."""
        items, owner = [], ""
        for part in self._memory.ordered if self._memory else ():
            named = f"{part.word} {size(part.size_bytes)}"
            items.append((part, f"{part.owner}: {named}" if part.owner not in ("", owner) else named))
            owner = part.owner
        return items

    def _side(self) -> int:
        return round(self.fontMetrics().height() * 0.55)

    def _places(self, width: int) -> list[QRect]:
        metrics = self.fontMetrics()
        line, left, places = 0, 0, []
        for _, said in self._items():
            wide = min(self._side() + STEP + 2 + metrics.horizontalAdvance(said), width)
            if left and left + wide > width:
                line, left = line + 1, 0
            places.append(QRect(left, line * (metrics.height() + STEP), wide, metrics.height()))
            left += wide + 4 * STEP
        return places
