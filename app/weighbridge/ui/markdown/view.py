"""One message as Markdown: prose and code below each other, made while the text arrives."""

from __future__ import annotations

import re
import time
from itertools import islice

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from weighbridge.ui.background import Background
from weighbridge.ui.markdown.code import CodeView
from weighbridge.ui.markdown.prose import ProseView
from weighbridge.ui.markdown.render import Style
from weighbridge.ui.markdown.segments import Code, CodeClosed, CodeOpened, Part, Prose, Segmenter
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.parts import fixed_font

SLICE, MOST_MARKS = 32_000, 400
"""Characters that are taken in at once, and cells, items and paragraphs among them, each of which is laid out: longer
texts come in slices, so that the window stays alive.
"""
REST = 8
"""The open end is rendered again after this many times what its last rendering took."""

_MARK = re.compile(r"\||\n(?:(?=[ \t]{0,8}\n)|[ \t]{0,8}(?:[-*+#]|\d{1,9}[.)]))")


class MarkdownView(QWidget):
    """Shows raw Markdown that may still be growing. The raw text is what counts; this is a view of it."""

    link_wanted = Signal(str)

    def __init__(self, theme: Theme, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # growth draws only what is new
        self._theme = theme
        self._background = background
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(3 * STEP)
        # Grown at once, a part's growth moves none of the parts above it: they need not be drawn again.
        self._column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetMinimumSize)
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._take_slice)
        self._raw = ""
        self._whole = False
        self._is_stale = False
        self._soon = QTimer(self, interval=0, singleShot=True)
        self._soon.timeout.connect(self._renew)
        self._begin()
        theme.changed.connect(self._theme_changed)

    @property
    def raw(self) -> str:
        """The text as it came."""
        return self._raw

    @property
    def is_drawing(self) -> bool:
        """Whether some of the text is still to be drawn."""
        return bool(self._waiting)

    def show_text(self, raw: str, *, whole: bool = True) -> None:
        """Show `raw` in place of what was shown; more may follow where it is not `whole`."""
        self._raw, self._whole, self._is_stale = raw, whole, False
        self._begin()
        self._waiting = raw
        self._take_slice()
        if self._waiting:
            self._slices.start()

    def append(self, more: str) -> None:
        """More text, or none. Called 30 times a second while the message grows: the open end is drawn again then."""
        self._raw += more
        if self._waiting or _slice_of(more) < len(more):
            self._waiting += more
            self._slices.start()
        else:
            self._write(self._segmenter.feed(more))

    def finish(self) -> None:
        """The message is whole."""
        if not self._whole:
            self._whole = True
            if not self._waiting:
                self._write(self._segmenter.finish())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Coming into sight in colours of before: to be drawn again."""
        super().paintEvent(event)
        if self._is_stale:
            self._soon.start()

    def discard(self) -> None:
        """Stop all work: the view goes away."""
        self._soon.stop()
        self._slices.stop()
        for code in self.findChildren(CodeView):
            code.discard()

    def _begin(self) -> None:
        self.discard()
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._segmenter = Segmenter()
        self._prose: ProseView | None = None
        self._code: CodeView | None = None
        self._shown_end = ""
        self._not_before_s = 0.0
        self._waiting = ""

    def _theme_changed(self) -> None:
        """Colours are part of what was drawn: draw again, out of sight only once it comes into sight."""
        self._is_stale = True
        self.update()
        if not self.visibleRegion().isEmpty():
            self._renew()

    def _renew(self) -> None:
        if self._is_stale:
            self.show_text(self._raw, whole=self._whole)

    def _take_slice(self) -> None:
        taken = _slice_of(self._waiting)
        piece, self._waiting = self._waiting[:taken], self._waiting[taken:]
        parts = self._segmenter.feed(piece)
        if not self._waiting:
            self._slices.stop()
            parts += self._segmenter.finish() if self._whole else []
        self._write(parts)

    def _write(self, parts: list[Part]) -> None:
        """Draw closed parts, then the open end."""
        closed: list[str] = []
        code: list[str] = []
        for part in parts:
            if isinstance(part, Prose):
                closed.append(part.text)
            elif isinstance(part, Code):
                code.append(part.text)
            elif isinstance(part, CodeOpened):
                self._write_prose(closed, "")
                closed, self._prose = [], None
                self._code = self._new_code(part.language)
            elif isinstance(part, CodeClosed):
                self._write_code(code)
                code = []
                self._close_code()
        self._write_code(code)
        self._write_end(closed)

    def _write_end(self, closed: list[str]) -> None:
        end = self._segmenter.open_prose
        now_s = time.perf_counter()
        if not closed and (end == self._shown_end or now_s < self._not_before_s):
            return
        self._write_prose(closed, end)
        self._not_before_s = time.perf_counter() + REST * (time.perf_counter() - now_s)

    def _write_prose(self, closed: list[str], end: str) -> None:
        if self._prose is None:
            if not closed and not end.strip():
                return
            self._prose = self._new_prose()
        elif closed and self._prose.is_long:
            self._prose.write((), "")
            self._prose = self._new_prose()
        if closed or end != self._shown_end:
            self._prose.write(closed, end)
        self._shown_end = end

    def _write_code(self, code: list[str]) -> None:
        if code and self._code is not None:
            self._code.write("".join(code))

    def _close_code(self) -> None:
        if self._code is not None:
            self._code.close_code()
            self._code = None

    def _new_prose(self) -> ProseView:
        made = ProseView(Style(self._theme.tokens, self.font(), fixed_font()), self)
        made.link_wanted.connect(self.link_wanted)
        self._column.addWidget(made)
        self._shown_end = ""
        return made

    def _new_code(self, language: str) -> CodeView:
        made = CodeView(language, self._theme, self._background, follows=not self._whole)
        self._column.addWidget(made)
        return made


def _slice_of(text: str) -> int:
    """How many characters of `text` are taken in at once."""
    marks = islice(_MARK.finditer(text, 0, SLICE), MOST_MARKS, MOST_MARKS + 1)
    return next((mark.start() for mark in marks), min(len(text), SLICE))
