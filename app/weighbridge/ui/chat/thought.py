"""What a model thought before it answered, folded."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from weighbridge.base.words import text
from weighbridge.ui.widgets.parts import button, column, row

MOST_LINES = 14


class ThoughtFold(QFrame):
    """A title that unfolds the plain text. The text is filled in only once it is unfolded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thought = ""
        self._title = ""
        self._fold = button("", self.toggle, "quiet")
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setUndoRedoEnabled(False)
        self._text.setAccessibleName(text("What the model thought"))
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setFixedHeight(self.fontMetrics().lineSpacing() * MOST_LINES)
        self._text.hide()
        column(row(self._fold, None), self._text, owner=self, gap=1)
        self.hide()

    @property
    def thought(self) -> str:
        """The text."""
        return self._thought

    def show_thought(self, thought: str, title: str) -> None:
        """Show `thought` in place of what was there; hide where it is empty."""
        if thought != self._thought:
            self._thought = thought
            self._text.setPlainText(thought if not self._text.isHidden() else "")
        self._name(title)
        self.setVisible(bool(thought.strip()))

    def add(self, more: str, title: str) -> None:
        """More of it."""
        self._thought += more
        if not self._text.isHidden():
            cursor = QTextCursor(self._text.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(more)
        if title != self._title or self.isHidden():
            self._name(title)
            self.setVisible(bool(self._thought.strip()))

    def toggle(self) -> None:
        """Fold or unfold."""
        folded = self._text.isHidden()
        self._text.setPlainText(self._thought if folded else "")
        self._text.setVisible(folded)
        self._name(self._title)

    def _name(self, title: str) -> None:
        self._title = title
        self._fold.setText(("▸ " if self._text.isHidden() else "▾ ") + title)
        self._fold.setAccessibleName(title)
