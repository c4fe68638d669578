"""A question in the page, with a button for each answer. Esc leaves it unanswered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.borrowing import BorrowingFrame
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, clear, column, label, row

Answers = Sequence[tuple[str, Callable[[], object] | None]]
"""What stands on each button, and what it does; None: nothing, it leaves things as they are."""


class Question(BorrowingFrame):
    """Hidden until something is asked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._what = label("", "heading", wrap=True)
        self._answers = Flow()
        self._close = button(text("Close"), self.hide, "quiet", text("Close this message"))
        asked = column(self._what, self._answers, gap=2)
        inner = row(asked, self._close, owner=self, gap=2)
        inner.setStretch(0, 1)
        inner.setAlignment(self._close, Qt.AlignmentFlag.AlignTop)
        inner.setContentsMargins(4 * STEP, 3 * STEP, 3 * STEP, 3 * STEP)
        self.hide()

    def ask(self, what: str, answers: Answers, focus: int | None = 0) -> None:
        """Ask. Each answer hides the question and acts; the one at `focus` is given it. None: whatever has the focus
        keeps it, for what is only told, with something that can be done about it. Close is there where no answer leaves
        things as they are.
        """
        self._what.setText(what)
        self.setAccessibleName(what)
        clear(self._answers)
        for words, act in answers:
            self._answers.addWidget(self._answer(words, act))
        self._close.setVisible(all(act is not None for _, act in answers))
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

    def _answer(self, words: str, act: Callable[[], object] | None) -> QPushButton:
        def chosen() -> None:
            self.hide()
            if act is not None:
                act()

        return button(words, chosen)
