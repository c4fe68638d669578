"""A field for each kind of setting. Empty, or "auto", leaves it to the engine.

A value that cannot be is not mended in silence: it stays as it was typed, and `refused` tells why.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from weighbridge.base.units import number
from weighbridge.base.words import text
from weighbridge.choices.setting_words import setting_name
from weighbridge.running.load_settings import Control, Kind
from weighbridge.ui.load.reckoning import values_of
from weighbridge.ui.widgets.parts import button, row
from weighbridge_engines.api import Cause, Unsupported

SETTLE_MS = 300
"""A value that is being typed is taken once it has stood so long."""
_TEXT_LINES = 4

Word = Callable[[Any], str]


class WordField(QComboBox):
    """One of a few values, each with what it would change; the first leaves it to the engine."""

    chosen = Signal(object)
    refused = Signal(object)

    def __init__(self, control: Control) -> None:
        super().__init__()
        self._values: tuple[Any, ...] = (None, *values_of(control))
        self._words: list[str] = []
        self.addItems([""] * len(self._values))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(9)
        self.view().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.activated.connect(lambda place: self.chosen.emit(self._values[place]))

    def show_value(self, value: Any, left: str, word: Word) -> None:
        """Show `value`; `left` is what the engine would take, `word` names each value."""
        shown = [left, *map(word, self._values[1:])]
        if shown != self._words:
            self._words = shown
            for place, words in enumerate(shown):
                self.setItemText(place, words)
        self.setCurrentIndex(self._values.index(value) if value in self._values else 0)

    def showPopup(self) -> None:
        """The list is as wide as what stands in it."""
        wide = max(map(self.fontMetrics().horizontalAdvance, self._words), default=0)
        self.view().setMinimumWidth(wide + 3 * self.fontMetrics().height())
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the sheet and changes nothing on its way."""
        event.ignore()


class LineField(QLineEdit):
    """A value that is typed. Up and Down go from one whole number to the next, of tokens to the next 1,024."""

    chosen = Signal(object)
    refused = Signal(object)

    def __init__(self, control: Control) -> None:
        super().__init__()
        self._control = control
        self._shown: Any = None
        self._is_wrong = False
        self._settle = QTimer(self, interval=SETTLE_MS, singleShot=True)
        self._settle.timeout.connect(self._take)
        if control.kind in (Kind.WHOLE, Kind.NUMBER):
            self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.textEdited.connect(lambda _words: self._settle.start())
        self.editingFinished.connect(self._take)

    def show_value(self, value: Any, left: str, word: Word) -> None:
        """Show `value`, unless it is the one that is being typed; `left` is what the engine would take."""
        del word
        self.setPlaceholderText(left)
        if self._settle.isActive() or (value == self._shown and self.isModified()):
            return
        self._shown = value
        self.setText(as_typed(value))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()))
        if step is None or self._control.kind is not Kind.WHOLE:
            super().keyPressEvent(event)
            return
        wide = 1024 if self._control.unit == "tokens" and self._control.changes else 1
        least = self._control.low if self._control.low is not None else 0
        now = self._shown if isinstance(self._shown, int) else self._control.default
        moved = (int(now) if isinstance(now, int) else 0) + step * wide
        self.setText(as_typed(max(int(least), moved)))
        self._settle.start()

    def forget(self) -> None:
        """What is being typed, or was typed wrong, counts no more."""
        self._settle.stop()
        self._shown, self._is_wrong = None, False
        self.clear()

    def _take(self) -> None:
        self._settle.stop()
        words = self.text().strip()
        try:
            value = self._control.read(_plain(self._control, words)) if words else None
        except Unsupported as error:
            self._is_wrong = True
            self.refused.emit(error.cause)
            return
        if value != self._shown or self._is_wrong:
            self._shown, self._is_wrong = value, False
            self.chosen.emit(value)


class TextField(QPlainTextEdit):
    """A text of several lines: a template, a grammar, a schema."""

    chosen = Signal(object)
    refused = Signal(object)

    def __init__(self, control: Control) -> None:
        super().__init__()
        self._control = control
        self._shown: Any = None
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * _TEXT_LINES)
        self._settle = QTimer(self, interval=SETTLE_MS, singleShot=True)
        self._settle.timeout.connect(self._take)
        self.textChanged.connect(self._settle.start)

    def show_value(self, value: Any, left: str, word: Word) -> None:
        """Show `value`, unless it is the one that is being typed."""
        del word
        self.setPlaceholderText(left)
        if value != self._shown:
            self._shown = value
            self.setPlainText(as_typed(value))
            self._settle.stop()

    def forget(self) -> None:
        """What is being typed, or was typed wrong, counts no more."""
        self._shown = None
        self.clear()
        self._settle.stop()

    def _take(self) -> None:
        words = self.toPlainText()
        try:
            value = self._control.read(words) if words.strip() else None
        except Unsupported as error:
            self.refused.emit(error.cause)
            return
        if value != self._shown:
            self._shown = value
            self.chosen.emit(value)


class FileField(QWidget):
    """A file, typed or chosen by the system's dialog; of a list, one more each time."""

    chosen = Signal(object)
    refused = Signal(object)

    def __init__(self, control: Control) -> None:
        super().__init__()
        self._control = control
        self._value: Any = None
        self._line = QLineEdit()
        self._line.editingFinished.connect(self._take)
        name = text("Choose: {setting}", setting=setting_name(control.name))
        self._choose = button("…", self._ask, name=name)
        self._choose.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        made = row(self._line, self._choose, owner=self, gap=1)
        made.setStretch(0, 1)
        self.setFocusProxy(self._line)

    def setAccessibleName(self, name: str) -> None:
        """Names the line, which has the focus."""
        super().setAccessibleName(name)
        self._line.setAccessibleName(name)

    def setAccessibleDescription(self, description: str) -> None:
        """Explains the line, which has the focus."""
        super().setAccessibleDescription(description)
        self._line.setAccessibleDescription(description)

    def show_value(self, value: Any, left: str, word: Word) -> None:
        """Show `value`."""
        del word
        self._value = value
        self._line.setPlaceholderText(left)
        self._line.setText("; ".join(value) if isinstance(value, tuple) else value or "")
        self._line.setToolTip(self._line.text())

    def take(self, path: str) -> None:
        """As if it had been chosen in the dialog."""
        if self._control.kind is Kind.FILES:
            self._tell((*(self._value or ()), path))
        else:
            self._tell(path)

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, setting_name(self._control.name))
        if path:
            self.take(path)

    def _take(self) -> None:
        words = [each.strip() for each in self._line.text().split(";") if each.strip()]
        if self._control.kind is Kind.FILES:
            self._tell(tuple(words) or None)
        else:
            self._tell(self._line.text().strip() or None)

    def _tell(self, value: Any) -> None:
        if value == self._value:
            return
        cause: Cause | None = None if value is None else self._control.fault(value)
        if cause is None:
            self.chosen.emit(value)
        else:
            self.refused.emit(cause)


ControlField = WordField | LineField | TextField | FileField


def field_of(control: Control) -> ControlField:
    """The field for a setting."""
    if control.kind in (Kind.CHOICE, Kind.SWITCH):
        return WordField(control)
    if control.kind in (Kind.FILE, Kind.FILES):
        return FileField(control)
    if control.kind in (Kind.TEXT, Kind.JSON) and control.name != "samplers":
        return TextField(control)
    return LineField(control)


def as_typed(value: Any) -> str:
    """A value as it could be typed: whole numbers are grouped."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, tuple):
        return (" " if value and isinstance(value[0], str) else ", ").join(map(_bare, value))
    return _bare(value)


def _bare(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, dict):
        return json.dumps(value)
    return str(value)


def _plain(control: Control, words: str) -> str:
    """What was typed, without what groups the digits of a whole number."""
    if control.kind is not Kind.WHOLE:
        return words
    for mark in (",", ".", " ", "\u202f", "\u00a0"):
        head, *groups = words.split(mark)
        if groups and head.lstrip("-").isdigit() and all(len(each) == 3 and each.isdigit() for each in groups):
            return words.replace(mark, "")
    return words
