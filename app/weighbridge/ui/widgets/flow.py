"""Widgets beside each other, in as many lines as the width asks for."""

from __future__ import annotations

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from weighbridge.ui.theme import STEP


class Flow(QLayout):
    """Each as wide as it wants to be; those of one line stand on one middle. Hidden ones take no room."""

    def __init__(self, *widgets: QWidget, gap: int = 2, line_gap: int = 1) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._gap, self._line_gap = gap * STEP, line_gap * STEP
        self.setContentsMargins(QMargins())
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        return sum(map(_height, lines)) + self._line_gap * max(0, len(lines) - 1)

    def minimumSize(self) -> QSize:
        """The widest of them in a line of its own."""
        hints = [item.sizeHint() for item in self._shown()]
        return QSize(
            max((hint.width() for hint in hints), default=0), max((hint.height() for hint in hints), default=0)
        )

    def sizeHint(self) -> QSize:
        """All in one line."""
        hints = [item.sizeHint() for item in self._shown()]
        wide = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
        return QSize(wide, max((hint.height() for hint in hints), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        top = rect.top()
        for line in self._lines(rect.width()):
            left, high = rect.left(), _height(line)
            for item in line:
                wanted = item.sizeHint()
                size = QSize(min(wanted.width(), rect.width()), wanted.height())
                item.setGeometry(QRect(QPoint(left, top + (high - size.height()) // 2), size))
                left += size.width() + self._gap
            top += high + self._line_gap

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._shown():
            wanted = item.sizeHint().width()
            if not lines or left + wanted > width:
                lines.append([])
                left = 0
            lines[-1].append(item)
            left += wanted + self._gap
        return lines


def _height(line: list[QLayoutItem]) -> int:
    return max(item.sizeHint().height() for item in line)
