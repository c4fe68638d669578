"""A fenced block of code: its language, a copy button, its text.

The text is a plain editor that scrolls inside itself above a number of lines: its layout then costs what is seen of
it, not what is in it. Measured with 20,000 lines, seven a tick: 3 ms at most a tick.
"""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.ui.background import Background
from weighbridge.ui.clipboard import copy
from weighbridge.ui.markdown.highlight import MOST_CHARACTERS, ROLES, Span, spans
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.tokens import Tokens
from weighbridge.ui.widgets.parts import button, column, fixed_font, label, row

MOST_LINES = 24
"""Code with more lines scrolls inside its block."""
MOST_OPEN_CHARACTERS = 6_000
"""Code that still grows is coloured up to this length, and then once it is whole."""
COLOUR_MS = 500
"""How often code that still grows is coloured anew."""


class CodeView(QFrame):
    """One block of code. `write` what comes; `close_code` once it is whole. It is coloured off the GUI thread.

    Where it `follows`, its end stays in sight while it grows, until the reader scrolls away.
    """

    def __init__(self, language: str, theme: Theme, background: Background, *, follows: bool) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._language = language
        self._line_end = ""
        self._theme = theme
        self._background = background
        self._task: Task | None = None
        self._text = _CodeText(follows)
        self._colours = _Colours(self._text.document(), theme.tokens)
        self._soon = QTimer(self, interval=COLOUR_MS, singleShot=True)
        self._soon.timeout.connect(self._colour_open)
        shown = language or text("code")
        self._text.setAccessibleName(text("Code, {language}", language=shown))
        self._copy = button(text("Copy"), self.copy, "quiet", text("Copy this code"))
        head = row(label(shown, "dim"), None, self._copy)
        head.setContentsMargins(3 * STEP, STEP, STEP, 0)
        column(head, self._text, owner=self, gap=0)

    @property
    def code(self) -> str:
        """The text, without the line end before the closing fence."""
        return self._text.toPlainText()

    def write(self, more: str) -> None:
        """More text. A line end is held until something follows it: the one before the closing fence is no line."""
        more = self._line_end + more
        self._line_end = "\n" if more.endswith("\n") else ""
        self._text.add(more.removesuffix("\n"))
        if self._language and self._text.document().characterCount() <= MOST_OPEN_CHARACTERS:
            self._colour_soon()

    def close_code(self) -> None:
        """The code is whole."""
        self.discard()
        if self._language and self._text.document().characterCount() <= MOST_CHARACTERS:
            self._colour_now()

    def copy(self) -> None:
        """Put the code on the clipboard."""
        copy(self.code, self._copy)

    def discard(self) -> None:
        """Nothing is drawn any more: forget the colouring under way."""
        self._soon.stop()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _colour_soon(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _colour_open(self) -> None:
        if self._task is None:
            self._colour_now()
        else:
            self._colour_soon()

    def _colour_now(self) -> None:
        code, language = self.code, self._language
        self._task = self._background.run(lambda _task: spans(code, language), self._colour, self._stay_plain)

    def _colour(self, found: tuple[tuple[Span, ...], ...]) -> None:
        self._task = None
        self._colours.show(found)

    def _stay_plain(self, error: BaseException) -> None:
        """The colouring failed: the text is what counts. A cancelled one is no news: another may be under way."""
        if not isinstance(error, Cancelled):
            self._task = None


class _CodeText(QPlainTextEdit):
    """Plain text, as high as its lines up to `MOST_LINES`; follows its end while it is at the end."""

    def __init__(self, follows: bool) -> None:
        super().__init__()
        self._follows = follows
        self._moving = False
        self.setProperty("role", "plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(fixed_font())
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(2 * STEP)
        self.setViewportMargins(STEP, 0, 0, 0)
        self.horizontalScrollBar().rangeChanged.connect(lambda _low, _high: self._fit())
        self.verticalScrollBar().rangeChanged.connect(lambda _low, _high: self._follow())
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._fit()

    def add(self, more: str) -> None:
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(more)
        self._fit()
        self._follow()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may bring the horizontal bar, or take it away."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page, and this text only once it was clicked into."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _follow(self) -> None:
        if self._follows:
            self._moving = True
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
            self._moving = False

    def _scrolled(self, value: int) -> None:
        if not self._moving:
            self._follows = self._follows and value >= self.verticalScrollBar().maximum()

    def _fit(self) -> None:
        bar = self.horizontalScrollBar()
        room = bar.sizeHint().height() if bar.maximum() > 0 else 0
        lines = self.blockCount()
        line = math.ceil(self.blockBoundingRect(self.document().firstBlock()).height())
        height = min(lines, MOST_LINES) * line + 5 * STEP + room
        scrolls = Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines > MOST_LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(scrolls)
        if height != self.height():
            self.setFixedHeight(height)


class _Colours(QSyntaxHighlighter):
    """Draws spans found elsewhere; lines that are not among them stay as they are."""

    def __init__(self, document: QTextDocument, tokens: Tokens) -> None:
        super().__init__(document)
        self._found: tuple[tuple[Span, ...], ...] = ()
        self._formats = {role: QTextCharFormat() for role in ROLES}
        for role, token in ROLES.items():
            self._formats[role].setForeground(QColor(getattr(tokens, token)))

    def show(self, found: tuple[tuple[Span, ...], ...]) -> None:
        """Draw `found`, where it differs from what was drawn."""
        before, self._found = self._found, found
        for number, line in enumerate(found):
            if number >= len(before) or before[number] != line:
                self.rehighlightBlock(self.document().findBlockByNumber(number))

    def highlightBlock(self, text: str) -> None:
        del text
        number = self.currentBlock().blockNumber()
        for span in self._found[number] if number < len(self._found) else ():
            self.setFormat(span.start, span.length, self._formats[span.role])
