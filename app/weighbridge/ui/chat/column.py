"""The messages of the path below each other, scrolled. It follows the end only while the reader is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from weighbridge.base.words import text
from weighbridge.chat.answering import News
from weighbridge.chat.conversation import Message, Role
from weighbridge.ui.chat.items import AnswerItem, Drawing, QuestionItem
from weighbridge.ui.chat.sheet import Sheet
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button

WIDEST = 820
"""Lines longer than this are hard to read."""
AT_ONCE = 4
"""Messages that are drawn at once, the last ones; earlier ones follow while the window is idle."""
MORE = 36
"""Earlier messages that are drawn while the window is idle, and again each time the reader asks for more."""
NEAR_END = 8
"""Pixels from the end that still count as the end."""

Item = QuestionItem | AnswerItem


class MessageColumn(QScrollArea):
    """Draws a path, keeping what is drawn already."""

    edit_wanted = Signal(object)
    regenerate_wanted = Signal(object)
    branch_wanted = Signal(object, int)

    def __init__(self, drawing: Drawing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._items: list[Item] = []
        self._undrawn: list[Message] = []
        self._wanted = 0
        self._branch_of: Callable[[Message], tuple[int, int]] = lambda _message: (1, 1)
        self._follows = True
        self._from_end = 0
        self._keeps_distance = False
        self._moving = False
        self._is_busy = False
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(text("Messages"))
        inner = Sheet(drawing.theme)
        inner.setMaximumWidth(WIDEST)
        inner.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(2 * STEP, 2 * STEP, 4 * STEP, 2 * STEP)
        self._column.setSpacing(4 * STEP)
        self._column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetMinimumSize)  # see MarkdownView
        self._more = button("", self._draw_more, "quiet")
        self._more.hide()
        self._column.addWidget(self._more)
        self._column.addStretch(1)
        self.setWidget(inner)
        bar = self.verticalScrollBar()
        drawing.theme.dress(bar, self._more)
        bar.rangeChanged.connect(self._range_changed)
        bar.valueChanged.connect(self._scrolled)
        # Scrolled once the new text is drawn: only pixels that are up to date can be moved, else all is drawn again.
        self._soon = QTimer(self, interval=0, singleShot=True)
        self._soon.timeout.connect(self._go_to_end)
        self._idle = QTimer(self, interval=0)
        self._idle.timeout.connect(self._draw_earlier)

    @property
    def items(self) -> Sequence[Item]:
        """What is drawn, in order."""
        return tuple(self._items)

    def show_path(self, path: Sequence[Message], branch_of: Callable[[Message], tuple[int, int]]) -> None:
        """Draw `path`; messages that stand there already stay as they are."""
        self._branch_of = branch_of
        same = self._same_beginning(path)
        if same == 0:
            self._undrawn = list(path[:-AT_ONCE])
            self._wanted = min(MORE, len(self._undrawn))
        for item in self._items[same:]:
            self._drop(item)
        del self._items[same:]
        drawn = path[len(self._undrawn) :]
        for item, message in zip(self._items, drawn, strict=False):
            item.renew(message)
        for message in drawn[same:]:
            self._add(message, len(self._items))
        for item in self._items:
            item.set_branch(*branch_of(item.message))
        self._follows = True
        self._move(self.verticalScrollBar().maximum())
        self._keeps_distance = self._wanted > 0
        self._idle.start()

    def set_busy(self, busy: bool) -> None:
        """While an answer is in flight no other can be asked for."""
        self._is_busy = busy
        for item in self._items:
            item.set_busy(busy)

    def take(self, news: News) -> None:
        """What came of the last answer."""
        if self._items and isinstance(last := self._items[-1], AnswerItem):
            last.take(news)

    def place(self) -> int | None:
        """How far from the end it is scrolled, in pixels; None at the end."""
        return None if self._follows else self.verticalScrollBar().maximum() - self.verticalScrollBar().value()

    def go_to(self, place: int | None) -> None:
        """Scroll to where `place` told."""
        self._follows = place is None
        self._from_end = place or 0
        self._keeps_distance = True
        self._range_changed()

    def discard(self) -> None:
        """Stop all work."""
        self._idle.stop()
        self._soon.stop()
        for item in self._items:
            item.discard()

    def _same_beginning(self, path: Sequence[Message]) -> int:
        """How many drawn items may stay."""
        before = len(self._undrawn)
        if [one.id for one in path[:before]] != [one.id for one in self._undrawn]:
            return 0
        same = 0
        for item, message in zip(self._items, path[before:], strict=False):
            if item.message.id != message.id or item.raw != message.text:
                break
            same += 1
        return same

    def _add(self, message: Message, at: int) -> None:
        made = QuestionItem(message) if message.role is Role.USER else AnswerItem(message, self._drawing)
        self._drawing.theme.dress(made, as_message=True)
        made.edit_wanted.connect(self.edit_wanted)
        made.regenerate_wanted.connect(self.regenerate_wanted)
        made.branch_wanted.connect(self.branch_wanted)
        made.grown.connect(self._reveal)
        made.set_busy(self._is_busy)
        self._items.insert(at, made)
        self._column.insertWidget(at + 1, made)

    def _reveal(self, shown: QWidget) -> None:
        """Scroll to `shown`, once it has its place."""
        self._follows = False
        QTimer.singleShot(0, shown, lambda: self.ensureWidgetVisible(shown))

    def _drop(self, item: Item) -> None:
        item.discard()
        self._column.removeWidget(item)
        item.hide()
        item.deleteLater()

    def _draw_earlier(self) -> None:
        """One earlier message, above the others; the distance from the end stays."""
        if self._wanted > 0:
            self._wanted -= 1
            message = self._undrawn.pop()
            self._add(message, 0)
            self._items[0].set_branch(*self._branch_of(message))
        if self._wanted == 0:
            self._idle.stop()
            self._more.setText(text("Show earlier messages ({count})", count=len(self._undrawn)))
            self._more.setVisible(bool(self._undrawn))

    def _draw_more(self) -> None:
        self._from_end = self.verticalScrollBar().maximum() - self.verticalScrollBar().value()
        self._keeps_distance = True
        self._wanted = min(MORE, len(self._undrawn))
        self._idle.start()

    def _range_changed(self) -> None:
        if self._follows:
            self._soon.start()
        elif self._keeps_distance:
            self._move(self.verticalScrollBar().maximum() - self._from_end)

    def _go_to_end(self) -> None:
        if self._follows:
            self._move(self.verticalScrollBar().maximum())

    def _move(self, value: int) -> None:
        self._moving = True
        self.verticalScrollBar().setValue(value)
        self._moving = False

    def _scrolled(self, value: int) -> None:
        if self._moving:
            return
        self._from_end = self.verticalScrollBar().maximum() - value
        self._follows = self._from_end <= NEAR_END
        self._keeps_distance = self._wanted > 0
