"""The text of a question in its bubble: plain, selectable, as wide as it needs to be."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from weighbridge.base.units import number
from weighbridge.base.words import plural, text
from weighbridge.ui.theme import STEP

MOST_SHOWN = 20_000
"""Characters of a question that are laid out. A pasted book would hold the window up: one line of a million letters
takes minutes.
"""


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
        self.setPlainText(_shown(words))

    def fit(self, widest: int) -> None:
        """Take the width the words need, at most `widest`, and the height that follows."""
        document = self.document()
        document.setTextWidth(-1)
        wide = min(math.ceil(document.idealWidth()) + 1, widest - 6 * STEP)
        document.setTextWidth(wide)
        self.setFixedSize(wide + 6 * STEP, math.ceil(document.size().height()) + 4 * STEP)


def _shown(words: str) -> str:
    left_out = len(words) - MOST_SHOWN
    if left_out <= 0:
        return words
    told = plural(
        "… and {count} more character, sent and kept",
        "… and {count} more characters, sent and kept",
        left_out,
        count=number(left_out),
    )
    return f"{words[:MOST_SHOWN]}\n{told}"
