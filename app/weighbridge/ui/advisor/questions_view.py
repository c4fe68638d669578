"""The ten questions with their answers, prefilled: what nobody answered says where it is from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QLabel, QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.choices.advice.prefill import Prefilled
from weighbridge.choices.advice.question_words import basis_in_words, field_in_words, question_in_words
from weighbridge.choices.advice.questions import QUESTIONS, Control, Field, Question
from weighbridge.ui.advisor.fields import AnswerField, field_of
from weighbridge.ui.widgets.parts import button, column, label, row


class QuestionsView(QWidget):
    """`answered` tells the name of a field and its answer, None to have it as the machine and the library say."""

    answered = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, AnswerField] = {}
        self.resets: dict[str, QPushButton] = {}
        self._bases: dict[str, QLabel] = {}
        lines = [self._line(place, each) for place, each in enumerate(QUESTIONS, 1)]
        column(*lines, None, owner=self, margin=4, gap=4)

    def show_answers(self, told: Prefilled, given: Mapping[str, Any]) -> None:
        """Show the answers, and which of them were `given`."""
        for name, field in self.fields.items():
            field.show_answer(told.answers)
            is_given = name in given
            basis = text("your answer") if is_given else basis_in_words(told.basis[name])
            self._bases[name].setText(basis)
            self._bases[name].setVisible(bool(basis))
            self.resets[name].setVisible(is_given)

    def _line(self, place: int, question: Question) -> QWidget:
        made = QWidget()
        asked = label(f"{place}  {question_in_words(question)}", "heading", wrap=True)
        single = len(question.fields) == 1
        parts = [self._field(each, made, named=not single) for each in question.fields]
        column(asked, *parts, owner=made, gap=1)
        return made

    def _field(self, field: Field, owner: QWidget, *, named: bool) -> QWidget:
        made = QWidget(owner)
        self.fields[field.name] = answer = field_of(field)
        answer.chosen.connect(partial(self.answered.emit, field.name))
        self._bases[field.name] = basis = label("", "dim", wrap=True)
        self.resets[field.name] = again = button(text("Reset"), partial(self.answered.emit, field.name, None), "quiet")
        title = field_in_words(field)
        again.setAccessibleName(text("Reset: {setting}", setting=title))
        for each in (basis, again):
            each.setParent(made)
            each.hide()
        name = label(title, "dim")
        name.setBuddy(answer)
        name.setMinimumWidth(name.fontMetrics().height() * 4)
        name.setParent(made)
        name.setVisible(named)
        if field.control is Control.SEVERAL:  # as wide as there is room, whatever its name
            line: QBoxLayout = column(name, answer, gap=1)
        else:
            line = row(name, answer)
            line.setStretch(1, 1)
        from_where = row(basis, again)
        from_where.setStretch(0, 1)
        column(line, from_where, owner=made, gap=1)
        return made
