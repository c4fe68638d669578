"""A question in the page, with a button for each answer. Esc, or Close, leaves it unanswered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.borrowing import BorrowingFrame
from weighbridge.ui.widgets.parts import button, clear, column, label, row

Answers = Sequence[tuple[str, Callable[[], object]]]


class Question(BorrowingFrame):
    """Hidden until something is asked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._what = label("", "heading", wrap=True)
        self._answers = row()
        leave = button(text("Close"), self.hide, "quiet", text("Close this message"))
        inner = column(self._what, row(self._answers, None, leave), owner=self, gap=2)
        inner.setContentsMargins(4 * STEP, 3 * STEP, 3 * STEP, 2 * STEP)
        self.hide()

    def ask(self, what: str, answers: Answers, focus: int | None = 0) -> None:
        """Ask. Each answer hides the question and acts; the one at `focus` is given it. None: whatever has the focus
        keeps it, for what is only told, with something that can be done about it.
        """
        self._what.setText(what)
        self.setAccessibleName(what)
        clear(self._answers)
        for words, act in answers:
            self._answers.addWidget(self._answer(words, act))
        self.show()
        if focus is not None:
            self.borrow_focus(self.buttons[focus])

    @property
    def what(self) -> str:
        """What is asked, or was last."""
        return self._what.text()

    @property
    def buttons(self) -> list[QPushButton]:
        """The answers."""
        items = [self._answers.itemAt(place) for place in range(self._answers.count())]
        return [made for item in items if item and isinstance(made := item.widget(), QPushButton)]

    def _answer(self, words: str, act: Callable[[], object]) -> QPushButton:
        def chosen() -> None:
            self.hide()
            act()

        return button(words, chosen)
