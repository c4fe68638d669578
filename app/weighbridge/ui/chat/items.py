"""Messages as they stand in the column: a question in its bubble, an answer with what can be done to it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from weighbridge.base.explain import explain_code
from weighbridge.base.words import text
from weighbridge.chat.answering import News
from weighbridge.chat.conversation import Failure, Message, MessageState
from weighbridge.ui.background import Background
from weighbridge.ui.chat.bubble import Bubble
from weighbridge.ui.chat.figures import answer_line, thought_line, wait_line
from weighbridge.ui.chat.thought import ThoughtFold
from weighbridge.ui.chat.thumbnails import Thumbnails
from weighbridge.ui.clipboard import copy
from weighbridge.ui.markdown.view import MarkdownView
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.error_panel import ErrorPanel, Report
from weighbridge.ui.widgets.link_row import LinkRow
from weighbridge.ui.widgets.parts import button, column, label, row


@dataclass(frozen=True)
class Drawing:
    """What items are drawn with."""

    theme: Theme
    background: Background


class _Item(QWidget):
    """A message. Its signals carry the message."""

    edit_wanted = Signal(object)
    regenerate_wanted = Signal(object)
    branch_wanted = Signal(object, int)
    grown = Signal(object)
    """A widget of the item was shown that the reader should see."""

    def __init__(self, message: Message) -> None:
        super().__init__()
        self.message = message
        self._branches = BranchSwitch()
        self._branches.wanted.connect(lambda step: self.branch_wanted.emit(self.message, step))

    def set_branch(self, place: int, count: int) -> None:
        """Which branch this is, of how many."""
        self._branches.show_branch(place, count)

    @property
    def raw(self) -> str:
        """The text that is shown."""
        return self.message.text

    def set_busy(self, busy: bool) -> None:
        """Whether an answer is in flight, here or elsewhere."""

    def copy(self) -> None:
        """Put the raw text on the clipboard."""
        copy(self.raw, self)

    def renew(self, message: Message) -> None:
        """The message is known anew: the same text, perhaps another state."""
        self.message = message

    def discard(self) -> None:
        """The item goes away."""


class QuestionItem(_Item):
    """What the user wrote, as it was written."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self._bubble = Bubble(message.text)
        self.thumbnails = Thumbnails(message.pictures)
        line = row(None, self._bubble)
        foot = row(None, self._branches, gap=0)
        column(self.thumbnails, line, foot, owner=self, gap=1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The bubble takes at most four fifths of the width."""
        super().resizeEvent(event)
        self._bubble.fit(self.width() * 4 // 5)


class AnswerItem(_Item):
    """What the model wrote, thought and failed at."""

    def __init__(self, message: Message, drawing: Drawing) -> None:
        super().__init__(message)
        self._theme = drawing.theme
        self._thought = ThoughtFold()
        self._view = MarkdownView(drawing.theme, drawing.background)
        self._link = LinkRow()
        self._error: ErrorPanel | None = None
        self._line = ElidedLabel()
        self._wait = label("", "dim")
        self._view.link_wanted.connect(self._ask_link)
        self._actions = self._make_actions()
        self._column = column(self._thought, self._view, self._wait, self._link, self._actions, owner=self)
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # as MarkdownView
        self._column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetMinimumSize)
        self.show_message(message)

    @property
    def raw(self) -> str:
        return self._view.raw

    def renew(self, message: Message) -> None:
        if message != self.message and message.state is not MessageState.STREAMING:
            self._settle(message)

    def set_busy(self, busy: bool) -> None:
        for one in self._asks:
            one.setEnabled(not busy)

    def show_message(self, message: Message) -> None:
        """Show `message` from the start."""
        over = message.state is not MessageState.STREAMING
        self._thought.show_thought(message.reasoning, self._thought_title(message))
        self._view.show_text(message.text, whole=over)
        self._settle(message)

    def take(self, news: News) -> None:
        """What came since the last tick."""
        for piece in news.pieces:
            if piece.restart:
                self._thought.add(self._view.raw, self._thought_title(self.message))
                self._view.show_text("", whole=False)
            if piece.reasoning:
                self._thought.add(piece.reasoning, self._thought_title(self.message))
        self._view.append("".join(_after_restart(news)))
        if news.message is not None:
            self._view.finish()
            self._thought.show_thought(news.message.reasoning, self._thought_title(news.message))
            self._settle(news.message)
        elif self._wait.isVisibleTo(self):
            self._say_wait(news)

    def discard(self) -> None:
        self._view.discard()

    def _make_actions(self) -> QWidget:
        made = QWidget()
        copied = button(text("Copy"), lambda: copy(self.raw, copied), "line", text("Copy the whole answer"))
        self._asks = (
            button(text("Edit"), lambda: self.edit_wanted.emit(self.message), "line", text("Edit the question")),
            button(text("Regenerate"), lambda: self.regenerate_wanted.emit(self.message), "line"),
        )
        buttons = (copied, *self._asks)
        line = row(*buttons, self._branches, self._line, owner=made, gap=0)
        line.setStretch(len(buttons) + 1, 1)
        return made

    def _ask_link(self, address: str) -> None:
        self._link.ask(address)
        self.grown.emit(self._link)

    def _settle(self, message: Message) -> None:
        self.message = message
        over = message.state is not MessageState.STREAMING
        self._line.setText(answer_line(message) if over else "")
        self._actions.setVisible(over)
        self._wait.setVisible(not over and not message.text)
        if message.error is not None:
            self._tell(message.error)

    def _say_wait(self, news: News) -> None:
        self._wait.setText(wait_line(news))
        self._wait.setVisible(bool(self._wait.text()))

    def _tell(self, failure: Failure) -> None:
        if self._error is None:
            self._error = ErrorPanel(self._theme)
            self._column.insertWidget(self._column.indexOf(self._actions), self._error)
        said = explain_code(failure.code, failure.values)
        details = "\n".join((f"{failure.code} {dict(failure.values)}", *failure.log))
        self._error.show_report(Report(said.what, said.next_step, details))

    @staticmethod
    def _thought_title(message: Message) -> str:
        return thought_line(message.figures, thinking=message.state is MessageState.STREAMING)


class BranchSwitch(QWidget):
    """ "2 of 3" with a button on each side; hidden where there is one branch only."""

    wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._words = QLabel()
        self._words.setProperty("role", "dim")
        self._back = button("‹", lambda: self.wanted.emit(-1), "quiet", text("Branch before"))
        self._on = button("›", lambda: self.wanted.emit(+1), "quiet", text("Branch after"))
        row(self._back, self._words, self._on, owner=self, gap=0)
        self.hide()

    def show_branch(self, place: int, count: int) -> None:
        """This one is number `place` of `count`."""
        self._words.setText(text("Branch {place} of {count}", place=place, count=count))
        self._back.setEnabled(place > 1)
        self._on.setEnabled(place < count)
        self.setVisible(count > 1)


def _after_restart(news: News) -> list[str]:
    texts: list[str] = []
    for piece in news.pieces:
        texts = [piece.text] if piece.restart else [*texts, piece.text]
    return texts
