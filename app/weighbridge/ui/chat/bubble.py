"""The text of a question in its bubble: plain, selectable, as wide as it needs to be."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import STEP


class Bubble(QTextEdit):
    """Plain text that fits its own size to its words; `fit` says how wide it may become."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bubble")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(text("You wrote"))
        self.document().setDocumentMargin(0)
        self.setPlainText(words)

    def fit(self, widest: int) -> None:
        """Take the width the words need, at most `widest`, and the height that follows."""
        document = self.document()
        document.setTextWidth(-1)
        wide = min(math.ceil(document.idealWidth()) + 1, widest - 6 * STEP)
        document.setTextWidth(wide)
        self.setFixedSize(wide + 6 * STEP, math.ceil(document.size().height()) + 4 * STEP)
