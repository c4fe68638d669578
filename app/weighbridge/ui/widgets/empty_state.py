"""An empty page: one sentence, one button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.ui.widgets.parts import button, column, label, row


class EmptyState(QWidget):
    """A sentence and a button in the middle; `note` stands dim below them."""

    def __init__(self, sentence: str, shown: str, act: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sentence = label(sentence, wrap=True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._note = label("", "dim", wrap=True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._button = button(shown, act, "primary")
        column(None, self._sentence, row(None, self._button, None), self._note, None, owner=self, margin=6, gap=4)

    @property
    def button(self) -> QPushButton:
        """The one button."""
        return self._button

    def say(self, sentence: str, note: str = "") -> None:
        """Another sentence and note."""
        self._sentence.setText(sentence)
        self._note.setText(note)
