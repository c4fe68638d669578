"""Where a message is written: Enter sends, Shift+Enter begins a new line; while an answer comes the button stops it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button, column, label, row

MOST_LINES = 8


class Composer(QFrame):
    """Emits `sent` with the text, or `stopped`. `editing` shows that the text takes the place of an earlier message."""

    sent = Signal(str)
    stopped = Signal()
    edit_left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._busy = False
        self._may_send = True
        self._edit = _Edit()
        self._edit.entered.connect(self._send)
        self._edit.textChanged.connect(self._look)
        self._hint = label(text("Esc"), "dim")
        self._button = button(text("Send"), self._act, "primary")
        self._note = row(label(text("Editing: this is sent as a branch beside the first one."), "dim"), None)
        self._note.addWidget(button(text("Leave editing"), self.leave_edit, "quiet"))
        self._banner = QWidget()
        self._banner.setLayout(self._note)
        self._banner.hide()
        line = row(self._edit, self._hint, self._button, gap=3)
        line.setAlignment(self._button, Qt.AlignmentFlag.AlignBottom)
        line.setAlignment(self._hint, Qt.AlignmentFlag.AlignVCenter)
        outer = column(self._banner, line, owner=self, gap=1)
        outer.setContentsMargins(3 * STEP, 2 * STEP, 2 * STEP, 2 * STEP)
        self._look()

    @property
    def button(self) -> QPushButton:
        """Send, or Stop."""
        return self._button

    @property
    def text(self) -> str:
        """What is written."""
        return self._edit.toPlainText()

    @property
    def editing(self) -> bool:
        """True while an earlier message is edited."""
        return not self._banner.isHidden()

    def set_busy(self, busy: bool) -> None:
        """Whether an answer is in flight."""
        self._busy = busy
        self._look()

    @property
    def placeholder(self) -> str:
        """What stands where nothing is written."""
        return self._edit.placeholderText()

    def set_target(self, model_title: str | None, *, leaves: bool = False) -> None:
        """Who gets the message; None where there is no model to send it to. `leaves`: it leaves this computer."""
        self._may_send = model_title is not None
        if model_title is None:
            shown = text("No model to send to")
        elif leaves:
            shown = text("Message {model}; it leaves this computer", model=model_title)
        else:
            shown = text("Message {model}", model=model_title)
        self._edit.setPlaceholderText(shown)
        self._look()

    def edit(self, message: str) -> None:
        """Edit an earlier message."""
        self._banner.show()
        self._edit.setPlainText(message)
        self._edit.selectAll()
        self._edit.setFocus()

    def leave_edit(self) -> None:
        """Back to a new message."""
        if self.editing:
            self._banner.hide()
            self._edit.clear()
            self.edit_left.emit()

    def take_focus(self) -> None:
        """Write here."""
        self._edit.setFocus()

    def clear(self) -> None:
        """Nothing is written."""
        self._banner.hide()
        self._edit.clear()

    def _act(self) -> None:
        if self._busy:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        if not self._busy and self._may_send and self.text.strip():
            self.sent.emit(self.text.strip("\n"))

    def _look(self) -> None:
        self._button.setText(text("Stop") if self._busy else text("Send"))
        self._button.setAccessibleName(self._button.text())
        self._button.setEnabled(self._busy or (self._may_send and bool(self.text.strip())))
        self._hint.setVisible(self._busy)


class _Edit(QPlainTextEdit):
    """Grows with its lines."""

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "plain")
        self.setTabChangesFocus(True)
        self.setAccessibleName(text("Message"))
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        lines = max(1, min(MOST_LINES, round(self.document().size().height())))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 2 * self._margin())

    def _margin(self) -> int:
        return round(self.document().documentMargin()) + 2
