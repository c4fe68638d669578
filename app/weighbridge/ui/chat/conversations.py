"""The list of conversations: search, open, rename, delete with undo."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QAction, QColor, QFont, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from weighbridge.base.words import text
from weighbridge.chat.conversation import Conversation
from weighbridge.ui.moments import when
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.cells import paint_focus
from weighbridge.ui.widgets.parts import action, button, column, label, row

WIDTH_LINES = 15
"""Width of the list, in heights of the font in use."""
SEARCH_MS = 200
_Index = QModelIndex | QPersistentModelIndex


class ConversationList(QFrame):
    """Shows what it is given; emits what the user wants."""

    opened = Signal(int)
    new_wanted = Signal()
    renamed = Signal(int, str)
    deleted = Signal(int)
    restored = Signal(int)
    searched = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setFixedWidth(WIDTH_LINES * self.fontMetrics().height())
        self._model = _Conversations()
        self._search = QLineEdit(clearButtonEnabled=True)
        self._search.setPlaceholderText(text("Search chats"))
        self._search.setAccessibleName(text("Search chats"))
        self._wait = QTimer(self, interval=SEARCH_MS, singleShot=True)
        self._wait.timeout.connect(lambda: self.searched.emit(self._search.text()))
        self._search.textChanged.connect(lambda _words: self._wait.start())
        new = button(text("New"), self.new_wanted.emit, name=text("New chat"))
        self._view = self._make_view(theme)
        self._none = label("", "dim", wrap=True)
        self._none.setContentsMargins(2 * STEP, STEP, 2 * STEP, STEP)
        self._undo_id: int | None = None
        self._undo_words = label("", "dim", wrap=True)
        self._undo = QWidget()
        line = row(self._undo_words, button(text("Undo"), self._restore, "quiet"), owner=self._undo)
        line.setStretch(0, 1)
        self._undo.hide()
        column(row(self._search, new), self._none, self._view, self._undo, owner=self, margin=2, gap=2)

    def show_conversations(self, found: Sequence[Conversation], open_id: int | None, titles: dict[str, str]) -> None:
        """Show `found`, the open one marked; `titles` names the models."""
        self._model.replace(found, titles)
        nothing = text("Nothing found.") if self._search.text() else text("No chats yet.")
        self._none.setText("" if found else nothing)
        self._none.setVisible(not found)
        place = next((number for number, one in enumerate(found) if one.id == open_id), None)
        if place is None:
            self._view.clearSelection()
            self._view.setCurrentIndex(QModelIndex())
        else:
            self._view.setCurrentIndex(self._model.index(place))

    def offer_undo(self, conversation: Conversation) -> None:
        """A conversation was deleted."""
        self._undo_id = conversation.id
        self._undo_words.setText(text("Deleted “{title}”.", title=conversation.title))
        self._undo.show()

    @property
    def search(self) -> str:
        """What is searched for."""
        return self._search.text()

    def shut(self) -> None:
        """The page goes away."""
        self._wait.stop()

    def _make_view(self, theme: Theme) -> QListView:
        made = QListView()
        made.setModel(self._model)
        made.setItemDelegate(_Drawing(theme, made))
        made.setAccessibleName(text("Chats"))
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        made.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        made.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        made.clicked.connect(self._open)
        made.activated.connect(self._open)
        made.customContextMenuRequested.connect(self._menu)
        self._model.renamed.connect(self.renamed)
        self._actions: list[QAction] = [
            action(made, text("Rename chat"), self._rename, "F2"),
            action(made, text("Delete chat"), self._delete, "Del"),
        ]
        return made

    def _current(self) -> Conversation | None:
        return self._model.at(self._view.currentIndex())

    def _open(self, index: _Index) -> None:
        found = self._model.at(index)
        if found is not None:
            self.opened.emit(found.id)

    def _rename(self) -> None:
        if self._current() is not None:
            self._view.edit(self._view.currentIndex())

    def _delete(self) -> None:
        found = self._current()
        if found is not None:
            self.deleted.emit(found.id)
            self.offer_undo(found)

    def _restore(self) -> None:
        self._undo.hide()
        if self._undo_id is not None:
            self.restored.emit(self._undo_id)

    def _menu(self, place: QPoint) -> None:
        index = self._view.indexAt(place)
        if index.isValid():
            self._view.setCurrentIndex(index)
            menu = QMenu(self)
            menu.addActions(self._actions)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self._view.viewport().mapToGlobal(place))


class _Conversations(QAbstractListModel):
    renamed = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self._all: tuple[Conversation, ...] = ()
        self._titles: dict[str, str] = {}

    def replace(self, found: Sequence[Conversation], titles: dict[str, str]) -> None:
        if (tuple(found), titles) != (self._all, self._titles):
            self.beginResetModel()
            self._all, self._titles = tuple(found), dict(titles)
            self.endResetModel()

    def at(self, index: _Index) -> Conversation | None:
        return self._all[index.row()] if 0 <= index.row() < len(self._all) else None

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - as Qt declares it
        return 0 if parent.isValid() else len(self._all)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        found = self.at(index)
        if found is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return found.title
        if role == Qt.ItemDataRole.StatusTipRole:
            model = self._titles.get(found.model_id or "", found.model_id or "")
            return " · ".join(part for part in (model, when(found.updated, time.time())) if part)
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        found = self.at(index)
        title = str(value).strip()
        if found is None or role != Qt.ItemDataRole.EditRole or not title:
            return False
        self.renamed.emit(found.id, title)
        return True


class _Drawing(QStyledItemDelegate):
    """Title in bold, below it the model and when."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        del index
        return QSize(0, 2 * option.fontMetrics.lineSpacing() + 5 * STEP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        super().paint(painter, _without_text(option), QModelIndex())
        paint_focus(painter, option, self._theme)
        area: QRect = option.rect.adjusted(2 * STEP + 2, 2 * STEP, -2 * STEP, -2 * STEP)
        metrics = option.fontMetrics
        line = metrics.lineSpacing()
        painter.save()
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(QColor(self._theme.tokens.text))
        title = painter.fontMetrics().elidedText(
            str(index.data()).replace("\n", " "), Qt.TextElideMode.ElideRight, area.width()
        )
        painter.drawText(area.left(), area.top() + metrics.ascent(), title)
        painter.setFont(option.font)
        painter.setPen(QColor(self._theme.tokens.dim))
        below = metrics.elidedText(
            str(index.data(Qt.ItemDataRole.StatusTipRole)), Qt.TextElideMode.ElideMiddle, area.width()
        )
        painter.drawText(area.left(), area.top() + line + STEP + metrics.ascent(), below)
        painter.restore()


def _without_text(option: QStyleOptionViewItem) -> QStyleOptionViewItem:
    made = QStyleOptionViewItem(option)
    made.text = ""
    return made
