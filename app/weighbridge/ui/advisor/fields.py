"""A field for each kind of answer. `chosen` tells the answer; showing one tells nobody."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QSpinBox, QWidget

from weighbridge.base.units import THIN
from weighbridge.base.words import text
from weighbridge.choices.advice.answers import Answers
from weighbridge.choices.advice.question_words import choice_in_words, field_in_words
from weighbridge.choices.advice.questions import Control, Field
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import give_way

_LETTERS = 14


class OneField(QComboBox):
    """One of a question's answers."""

    chosen = Signal(object)

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        for each in field.choices:
            self.addItem(choice_in_words(field, each), each)
        give_way(self, _LETTERS)
        self.activated.connect(lambda _place: self.chosen.emit(self.currentData()))

    def show_answer(self, answers: Answers) -> None:
        """Show what `answers` hold."""
        self.setCurrentIndex(self.findData(str(getattr(answers, self._field.name))))
        self.setToolTip(self.currentText())  # it may be wider than the field

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page and changes nothing on its way."""
        event.ignore()


class WholeField(QSpinBox):
    """A whole number."""

    chosen = Signal(object)

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self._shown = 0
        self.setRange(field.low, field.high)
        self.setSingleStep(field.step)
        self.setGroupSeparatorShown(True)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        if field.name == "context":
            self.setSuffix(f"{THIN}{text('tokens')}")
        self.editingFinished.connect(self._tell)

    def show_answer(self, answers: Answers) -> None:
        """Show what `answers` hold, unless somebody is typing."""
        self._shown = getattr(answers, self._field.name)
        if not self.hasFocus():
            self.setValue(self._shown)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page and changes nothing on its way."""
        event.ignore()

    def stepBy(self, steps: int) -> None:
        super().stepBy(steps)
        self._tell()

    def _tell(self) -> None:
        if self.value() != self._shown:
            self._shown = self.value()
            self.chosen.emit(self._shown)


class SeveralField(QWidget):
    """Any number of a question's answers."""

    chosen = Signal(object)

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self.boxes = {each: QCheckBox(choice_in_words(field, each)) for each in field.choices}
        self.setLayout(Flow(*self.boxes.values(), gap=3))
        for each in self.boxes.values():
            each.clicked.connect(lambda _on: self._tell())
        self.setFocusProxy(next(iter(self.boxes.values())))

    def setAccessibleName(self, name: str) -> None:
        """Names the boxes too: which question they answer is seen, and has to be heard."""
        super().setAccessibleName(name)
        for each in self.boxes.values():
            each.setAccessibleName(f"{name}: {each.text()}")

    def show_answer(self, answers: Answers) -> None:
        """Show what `answers` hold."""
        held = getattr(answers, self._field.name)
        for each, box in self.boxes.items():
            box.setChecked(each in held)

    def _tell(self) -> None:
        self.chosen.emit(frozenset(each for each, box in self.boxes.items() if box.isChecked()))


AnswerField = OneField | WholeField | SeveralField


def field_of(field: Field) -> AnswerField:
    """The widget for `field`, named for who does not see it."""
    kinds: dict[Control, Any] = {Control.ONE: OneField, Control.NUMBER: WholeField, Control.SEVERAL: SeveralField}
    made: AnswerField = kinds[field.control](field)
    made.setAccessibleName(field_in_words(field))
    return made
