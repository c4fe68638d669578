"""A note that is written where it stands: saved on leaving it, put back by Esc."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from weighbridge.base.words import text
from weighbridge.library.marks import MAX_NOTE

_INSET = 2
"""How far Qt moves a line's text in; a note stands on the edge of what is around it."""


class NoteLine(QLineEdit):
    """`written` tells the note, once the user has changed it and leaves the line, presses Enter, or `leave` is called.

    Line ends, which a line cannot show, become spaces.
    """

    written = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept = ""
        self.setMaxLength(MAX_NOTE)
        self.setProperty("role", "note")
        self.setTextMargins(-_INSET, 0, 0, 0)
        self.setPlaceholderText(text("Add a note"))
        self.setAccessibleName(text("Note"))
        self.editingFinished.connect(self.leave)

    def show_note(self, note: str) -> None:
        """Show `note`; not over what is being written."""
        note = " ".join(note.splitlines())
        if note == self._kept:
            return
        is_touched, self._kept = self.text() != self._kept, note
        if not is_touched:
            self.setText(note)
            self.setCursorPosition(0)

    def leave(self) -> None:
        """Tell what was written, if anything."""
        note = self.text().strip()
        if self.text() != note:
            self.setText(note)
        if note != self._kept:
            self._kept = note
            self.written.emit(note)  # at last: whoever hears it may show another note

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text() != self._kept:
            self.setText(self._kept)
        else:
            super().keyPressEvent(event)
