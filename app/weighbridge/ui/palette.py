"""The palette of `Ctrl+K` and the model switcher of `Ctrl+L`: type, choose, Enter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, QStringListModel, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from weighbridge.base.words import text
from weighbridge.ui.matching import Entry, matching
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.parts import column, label

_ROWS = 9


class Palette(QFrame):
    """A list over the window, hidden until `open` is called; it goes when something is chosen or the focus leaves."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self.setProperty("role", "panel")
        self.setObjectName("palette")
        self._entries: Sequence[Entry] = ()
        self._found: list[Entry] = []
        self._before: QWidget | None = None
        self._field = QLineEdit()
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        self._names = QStringListModel(self)
        self._list = QListView()
        self._list.setModel(self._names)
        self._list.setUniformItemSizes(True)  # thousands are laid out at each key otherwise
        self._list.setItemDelegate(_Delegate(theme, self))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setAccessibleName(text("Found"))
        self._list.clicked.connect(self._choose)
        self._none = label(text("Nothing of that name."), "dim")
        column(self._field, self._list, self._none, owner=self, margin=2)
        self.hide()

    @property
    def found(self) -> list[Entry]:
        """What is listed now."""
        return self._found

    def open(self, entries: Sequence[Entry], placeholder: str) -> None:
        """Show `entries` to choose from."""
        self._before = self.window().focusWidget()
        self._entries = entries
        self._field.setPlaceholderText(placeholder)
        self._field.setAccessibleName(placeholder)
        self._field.clear()
        self._filter("")
        self._place()
        self.show()
        self.raise_()
        self._field.setFocus()

    def dismiss(self) -> None:
        """Go away; the focus returns to where it was."""
        if self.isHidden():
            return
        self.hide()
        if self._before is not None:
            self._before.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(Qt.Key(event.key()))
        return super().eventFilter(watched, event)

    def _key(self, key: Qt.Key) -> bool:
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._list.currentIndex())
            return True
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -_ROWS, Qt.Key.Key_PageDown: _ROWS}.get(key)
        if step is None or not self._found:
            return False
        line = max(0, min(len(self._found) - 1, self._list.currentIndex().row() + step))
        self._list.setCurrentIndex(self._names.index(line))
        return True

    def _filter(self, typed: str) -> None:
        self._found = matching(typed, self._entries)
        self._names.setStringList([f"{entry.title}\t{entry.hint}" for entry in self._found])
        self._list.setCurrentIndex(self._names.index(0))
        self._list.setVisible(bool(self._found))
        self._none.setVisible(not self._found)

    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        entry = self._found[index.row()]
        self.dismiss()
        entry.act()

    def _place(self) -> None:
        window = self.window()
        em = self.fontMetrics().height()
        width = min(em * 36, window.width() - 8 * STEP)
        height = min(em * 4 + _ROWS * (em + 4 * STEP), window.height() - 20 * STEP)
        self.setGeometry(QRect((window.width() - width) // 2, 16 * STEP, width, height))


class _Delegate(QStyledItemDelegate):
    """A title at the left, its hint dim at the right."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        del index
        return QSize(0, option.fontMetrics.height() + 4 * STEP)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        title, _, hint = str(index.data()).partition("\t")
        tokens = self._theme.tokens
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.accent_surface))
            painter.drawRoundedRect(option.rect, 6, 6)
        inner = option.rect.adjusted(3 * STEP, 0, -3 * STEP, 0)
        painter.setPen(QColor(tokens.dim))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, hint)
        painter.setPen(QColor(tokens.text))
        room = inner.width() - option.fontMetrics.horizontalAdvance(hint) - 3 * STEP
        title = option.fontMetrics.elidedText(title, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)
        painter.restore()
