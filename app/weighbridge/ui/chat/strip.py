"""The live figures under the messages: speed now with its course, first token, prompt, memory, context.

All of it is painted, not made of labels: figures that change five times a second must neither be announced by a
screen reader at each change nor lay the page out again. A reader that asks is told the figures of the moment.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from weighbridge.base.units import MIB, number, seconds, size
from weighbridge.base.words import text
from weighbridge.chat.meter import Reading
from weighbridge.ui.chat.figures import counted_mark, left_in_words, of_in_words, prompt_in_words, source_in_words
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.parts import row, scaled

_USUAL_CONTEXT = 8_192
_COURSE_ROOM = 14 * STEP
POINTS = 60
"""Points of the sparkline: twelve seconds at five a second."""


@dataclass(frozen=True)
class Shown:
    """One figure: a dim name, its value, and a dim note beside the name; `share` (0 to 1) draws a bar below."""

    name: str
    value: str
    note: str = ""
    share: float | None = None

    @property
    def head(self) -> str:
        """The dim line."""
        return f"{self.name} · {self.note}" if self.note else self.name


class Readout(QWidget):
    """Paints one figure, its name dim above its value. It is as wide as the widest figure it was told of."""

    def __init__(self, theme: Theme, name: str, widest: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown = Shown(name, "–")
        self._widest = Shown(name, widest)
        self._bold = QFont(self.font())
        self._bold.setWeight(QFont.Weight.DemiBold)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    @property
    def value(self) -> str:
        """The value shown, with its note."""
        return " · ".join(part for part in (self._shown.value, self._shown.note) if part)

    def say(self, value: str, note: str = "", share: float | None = None) -> None:
        """Show `value`; one that is wider than any before it makes its own room."""
        shown = Shown(self._shown.name, value, note, share)
        if shown == self._shown:
            return
        self._shown = shown
        self.update()
        if len(value) > len(self._widest.value) or len(note) > len(self._widest.note):
            self.make_room(value, note)

    def make_room(self, widest: str, note: str = "") -> None:
        """The widest figure that will be shown from now on."""
        wanted = Shown(self._shown.name, widest, note)
        if wanted != self._widest:
            self._widest = wanted
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self._bold)
        head = QFontMetricsF(self.font()).horizontalAdvance(self._widest.head)
        wide = max(metrics.horizontalAdvance(self._widest.value), head)
        return QSize(math.ceil(wide) + STEP, round(2 * metrics.lineSpacing()) + 2 * STEP)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        tokens = self._theme.tokens
        line = self.fontMetrics().lineSpacing()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(tokens.dim))
        head = painter.fontMetrics().elidedText(self._shown.head, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QRectF(0, 0, self.width(), line), Qt.AlignmentFlag.AlignLeft, head)
        painter.setPen(QColor(tokens.text))
        painter.setFont(self._bold)
        painter.drawText(QRectF(0, line, self.width(), line), Qt.AlignmentFlag.AlignLeft, self._shown.value)
        if self._shown.share is not None:
            self._paint_bar(painter, 2 * line + STEP / 2)
        painter.end()

    def _paint_bar(self, painter: QPainter, top: float) -> None:
        share = min(1.0, self._shown.share or 0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.tokens.track))
        painter.drawRoundedRect(QRectF(0, top, self.width(), STEP), 2, 2)
        painter.setBrush(QColor(self._theme.tokens.tight if share > 0.9 else self._theme.tokens.accent))
        painter.drawRoundedRect(QRectF(0, top, self.width() * share, STEP), 2, 2)


class Speed(QWidget):
    """The speed now, large, and its course."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tps: float | None = None
        self._mark = ""
        self._course: deque[float] = deque(maxlen=POINTS)
        self._large = scaled(self.font(), 1.75)
        self._large.setWeight(QFont.Weight.Bold)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text("Speed"))

    @property
    def tps(self) -> float | None:
        """What is shown, in tokens per second."""
        return self._tps

    @property
    def shown(self) -> str:
        """The same as it is written."""
        return "–" if self._tps is None else f"{self._mark}{number(self._tps, 1)}"

    def say(self, tps: float | None, *, goes_on: bool, mark: str = "") -> None:
        """Show `tps`, with `mark` before it; its course grows while the answer `goes_on`."""
        if goes_on and tps is not None:
            self._course.append(tps)
        self._tps, self._mark = tps, mark
        self.update()

    def clear(self) -> None:
        """A new answer."""
        self._course.clear()
        self.say(None, goes_on=False)

    def sizeHint(self) -> QSize:
        return QSize(self._number_width() + 28 * STEP, 2 * self.fontMetrics().lineSpacing() + 2 * STEP)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._number_width(), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        tokens = self._theme.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        base = self.height() / 2 + QFontMetricsF(self._large).capHeight() / 2
        painter.setFont(self._large)
        painter.setPen(QColor(tokens.text if self._tps is not None else tokens.dim))
        shown = self.shown
        painter.drawText(QPointF(0, base), shown)
        wide = QFontMetricsF(self._large).horizontalAdvance(shown)
        painter.setFont(self.font())
        painter.setPen(QColor(tokens.dim))
        painter.drawText(QPointF(wide + STEP, base), "tok/s")
        self._paint_course(painter)
        painter.end()

    def _paint_course(self, painter: QPainter) -> None:
        left = self._number_width() + 2 * STEP
        room = min(self.width() - left, 30 * STEP)
        if len(self._course) < 2 or room < 10 * STEP:
            return
        top, low = max(self._course), self.height() * 0.68
        tall = self.height() * 0.36
        points = [
            QPointF(left + room * place / (POINTS - 1), low - tall * value / (top or 1))
            for place, value in enumerate(self._course)
        ]
        painter.setPen(QPen(QColor(self._theme.tokens.accent), 1.5))
        painter.drawPolyline(QPolygonF(points))

    def _number_width(self) -> int:
        wide = QFontMetricsF(self._large).horizontalAdvance("~000.0") + self.fontMetrics().horizontalAdvance("tok/s")
        return round(wide) + 2 * STEP


class LiveStrip(QFrame):
    """The figures of the answer in flight, or of the last one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.speed = Speed(theme)
        self.first = Readout(theme, text("first token"), seconds(88_880))
        self.prompt = Readout(theme, text("prompt"), "")
        self.memory = Readout(theme, text("memory"), size(round(888.8 * MIB)))
        self.context = Readout(theme, text("context"), "")
        line = row(self.speed, self.first, self.prompt, self.memory, self.context, owner=self, gap=5)
        line.setContentsMargins(4 * STEP, 2 * STEP, 4 * STEP, 2 * STEP)
        self._has_memory = True
        self._make_room(_USUAL_CONTEXT)

    def have_memory(self, there: bool) -> None:
        """Whether there is a memory to show: what an endpoint serves takes none here."""
        self._has_memory = there
        self._give_way(self.width())

    def clear(self) -> None:
        """A new answer: nothing is known."""
        self.speed.clear()
        self.first.say("–")
        self.prompt.say("–")

    def show_reading(self, reading: Reading | None, context: int | None, *, goes_on: bool) -> None:
        """Show the figures of an answer; of one that is over, its mean speed."""
        tps = None if reading is None else reading.now_tps if goes_on else reading.decode_tps
        self.speed.say(tps, goes_on=goes_on, mark="" if reading is None else counted_mark(reading.source))
        self.prompt.say(prompt_in_words(reading))
        used = None if reading is None else reading.context_used
        self.first.say("–" if reading is None or reading.ttft_ms is None else seconds(reading.ttft_ms))
        self.show_context(used, context)
        self.setToolTip("" if reading is None else source_in_words(reading))
        self.setAccessibleDescription("" if goes_on else self.spoken())

    def show_context(self, used: int | None, context: int | None) -> None:
        """Tokens of context used, of how many."""
        if context is not None:
            self._make_room(context)
        left = left_in_words(used, context)
        self.context.say(of_in_words(used, context), left, used / context if used is not None and context else None)

    def show_memory(self, memory_bytes: int | None) -> None:
        """Resident memory of the engine."""
        self.memory.say("–" if memory_bytes is None else size(memory_bytes))

    def spoken(self) -> str:
        """The figures as one sentence, for whoever asks."""
        tps = self.speed.tps
        parts = [text("speed {tps} tokens per second", tps=number(tps, 1))] if tps is not None else []
        figures = (self.first, self.prompt, self.memory, self.context)
        return ", ".join(parts + [f"{one.accessibleName()} {one.value}" for one in figures if one.value != "–"])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way(event.size().width())

    def _make_room(self, context: int) -> None:
        """For the figures of a context of so many tokens."""
        whole = of_in_words(context, context)
        self.prompt.make_room(whole)
        self.context.make_room(whole, left_in_words(0, context))
        self._give_way(self.width())

    def _give_way(self, width: int) -> None:
        """In a narrow window the memory goes first, the top bar has it too; then the course of the speed, and the
        prompt.
        """
        kept = (self.speed.minimumSizeHint().width(), self.first.sizeHint().width(), self.context.sizeHint().width())
        room = width - sum(kept) - 18 * STEP
        self.memory.setVisible(self._has_memory)
        giving = ((self.prompt, 0), *(((self.memory, _COURSE_ROOM),) if self._has_memory else ()))
        for one, course in giving:
            room -= one.sizeHint().width() + 5 * STEP
            one.setVisible(room >= course)
