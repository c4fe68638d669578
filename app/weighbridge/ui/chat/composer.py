"""Where a message is written: Enter sends, Shift+Enter begins a new line; while an answer comes the button stops it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton, QWidget

from weighbridge.base.errors import Refused
from weighbridge.base.words import text
from weighbridge.chat.conversation import Attached
from weighbridge.ui.chat.attaching import offered_in
from weighbridge.ui.chat.thumbnails import Tray
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button, column, label, row

MOST_LINES = 8
MOST_PICTURES = 6
"""Of one message."""


class Composer(QFrame):
    """Emits `sent` with the text, or `stopped`. `editing` shows that the text takes the place of an earlier message.

    Where the model sees, or nobody knows whether it does, pictures can be attached: `attach_wanted` asks for some,
    `offered` tells what was dropped or pasted.
    """

    sent = Signal(str)
    stopped = Signal()
    edit_left = Signal()
    attach_wanted = Signal()
    offered = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sees = False
        self._tray = Tray()
        self._unknown = label(text("It is not known whether this model takes pictures."), "dim", wrap=True)
        self._unknown.hide()
        self._doubted = False
        self._tray.changed.connect(self._show_doubt)
        self._attach = button(text("Attach a picture…"), self.attach_wanted.emit, "quiet")
        self._attach.hide()
        self.setProperty("role", "panel")
        self._busy = False
        self._may_send = True
        self._edit = _Edit()
        self._edit.entered.connect(self._send)
        self._edit.textChanged.connect(self._look)
        self._edit.offered.connect(self.offered)
        self._hint = label(text("Esc"), "dim")
        self._button = button(text("Send"), self._act, "primary")
        self._note = row(label(text("Editing: this is sent as a branch beside the first one."), "dim"), None)
        self._note.addWidget(button(text("Leave editing"), self.leave_edit, "quiet"))
        self._banner = QWidget()
        self._banner.setLayout(self._note)
        self._banner.hide()
        line = row(self._edit, self._hint, self._attach, self._button, gap=3)
        line.setAlignment(self._attach, Qt.AlignmentFlag.AlignBottom)
        line.setAlignment(self._button, Qt.AlignmentFlag.AlignBottom)
        line.setAlignment(self._hint, Qt.AlignmentFlag.AlignVCenter)
        outer = column(self._banner, self._tray, self._unknown, line, owner=self, gap=1)
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

    @property
    def pictures(self) -> tuple[Attached, ...]:
        """Those that go with the message."""
        return self._tray.pictures if self._sees else ()

    @property
    def sees(self) -> bool:
        """Whether pictures can be attached."""
        return self._sees

    def set_sees(self, sees: bool | None) -> None:
        """Whether the model sees pictures, None where nobody knows. Those that are attached wait for one that may."""
        self._sees, self._doubted = sees is not False, sees is None
        self._attach.setVisible(self._sees)
        self._attach.setToolTip(self._unknown.text() if self._doubted else "")
        self._tray.setVisible(self._sees and bool(self._tray.pictures))
        self._edit.takes_pictures = self._sees
        self.setAcceptDrops(self._sees)
        self._show_doubt()

    def add_picture(self, picture: Attached) -> None:
        """Attach one more. Raises Refused("picture.too_many") where there are MOST_PICTURES."""
        if len(self._tray.pictures) >= MOST_PICTURES:
            raise Refused("picture.too_many", limit=MOST_PICTURES)
        self._tray.add(picture)

    def edit(self, message: str, pictures: Sequence[Attached] = ()) -> None:
        """Edit an earlier message."""
        self._banner.show()
        self._tray.show_pictures(pictures)
        self._tray.setVisible(self._sees and bool(pictures))
        self._edit.setPlainText(message)
        self._edit.selectAll()
        self._edit.setFocus()

    def leave_edit(self) -> None:
        """Back to a new message."""
        if self.editing:
            self.clear()
            self.edit_left.emit()

    def take_focus(self) -> None:
        """Write here."""
        self._edit.setFocus()

    def clear(self) -> None:
        """Nothing is written, and nothing attached."""
        self._banner.hide()
        self._tray.show_pictures(())
        self._edit.clear()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if offered_in(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.offered.emit(offered_in(event.mimeData()))
        event.acceptProposedAction()

    def _act(self) -> None:
        if self._busy:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        if not self._busy and self._may_send and self.text.strip():
            self.sent.emit(self.text.strip("\n"))

    def _show_doubt(self) -> None:
        self._unknown.setVisible(self._doubted and bool(self._tray.pictures))

    def _look(self) -> None:
        self._button.setText(text("Stop") if self._busy else text("Send"))
        self._button.setAccessibleName(self._button.text())
        self._button.setEnabled(self._busy or (self._may_send and bool(self.text.strip())))
        self._hint.setVisible(self._busy)


class _Edit(QPlainTextEdit):
    """Grows with its lines."""

    entered = Signal()
    offered = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.takes_pictures = False
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

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(self.takes_pictures and offered_in(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """What is pasted or dropped. Words are words, though their program offers a picture of them too."""
        found = offered_in(source) if self.takes_pictures and not _is_words(source) else []
        if found:
            self.offered.emit(found)
        else:
            super().insertFromMimeData(source)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        lines = max(1, min(MOST_LINES, round(self.document().size().height())))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 2 * self._margin())

    def _margin(self) -> int:
        return round(self.document().documentMargin()) + 2


def _is_words(source: QMimeData) -> bool:
    return source.hasText() and not source.hasUrls()
