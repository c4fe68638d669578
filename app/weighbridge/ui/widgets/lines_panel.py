"""A panel of lines: what a line is about, what there is to say of it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.fitted_area import FittedArea
from weighbridge.ui.widgets.parts import button, clear, column, label, row

MOST = 200
"""So many lines are shown; the rest is counted."""


@dataclass(frozen=True)
class Line:
    """One line: `name`, cut in its middle where there is no room; what is said of it; and buttons."""

    name: str
    said: str = ""
    acts: Sequence[tuple[str, Callable[[], object]]] = ()


class LinesPanel(QFrame):
    """A head, and lines that are scrolled where they are many. `close` is what its own button does."""

    def __init__(self, close: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._head = label("", "heading", wrap=True)
        self._acts = row()
        self._above: list[QPushButton] = []
        self._rows: list[_LineRow] = []
        self._close = button(text("Close"), close, "quiet")
        self._inner = QWidget()
        self._lines = column(owner=self._inner, gap=1)
        self._lines.setContentsMargins(4 * STEP, 0, 4 * STEP, 2 * STEP)
        self._area = FittedArea(self._inner)
        top = row(self._head, self._acts, self._close)
        top.setStretch(0, 1)
        top.setContentsMargins(4 * STEP, 2 * STEP, 2 * STEP, 0)
        outer = column(top, self._area, owner=self, gap=1)
        outer.setContentsMargins(1, 1, 1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    @property
    def head(self) -> str:
        """What is said above the lines."""
        return self._head.text()

    @property
    def said(self) -> list[str]:
        """Names and what is said of them, line by line."""
        return [said for each in self._rows for said in each.said]

    @property
    def buttons(self) -> list[QPushButton]:
        """The buttons of the head and of all lines, from the top."""
        return [*self._above, *(made for each in self._rows for made in each.buttons)]

    def keep_lines(self, least: int) -> None:
        """Keep so many lines of text in sight where others need the room."""
        self._area.keep_lines(least)

    def show_lines(
        self, head: str, lines: Sequence[Line], acts: Sequence[tuple[str, Callable[[], object]]] = ()
    ) -> None:
        """Show these, in the place of those before."""
        self._head.setText(head)
        self.setAccessibleName(head)
        clear(self._acts)
        self._above = [button(words, act, "quiet") for words, act in acts]
        for made in self._above:
            self._acts.addWidget(made)
        clear(self._lines)
        left = len(lines) - MOST
        shown = [*lines[:MOST], *([Line("", text("and {count} more", count=left))] if left > 0 else [])]
        self._rows = [_LineRow(line) for line in shown]
        for each in self._rows:
            self._lines.addWidget(each)


class _LineRow(QWidget):
    def __init__(self, line: Line) -> None:
        super().__init__()
        name = ElidedLabel(at_left=True, in_middle=True)
        name.setProperty("role", "")
        name.setText(line.name)
        self.said = [each for each in (line.name, line.said) if each]
        self.buttons = [
            button(words, act, "quiet", text("{act}: {name}", act=words, name=line.name)) for words, act in line.acts
        ]
        held = row(name, *([label(line.said, "dim")] if line.said else ()), *self.buttons, owner=self, gap=3)
        held.setStretch(0, 1)
