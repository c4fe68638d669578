"""What is loaded beside a model: a line for each role with its file, and a button that changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.choices.part_words import role_in_words
from weighbridge.formats.variant import Role
from weighbridge.ui.part_lines import PartLine
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.parts import button, clear, label


class PartsList(QWidget):
    """`change_wanted` tells the Role of which another file is wanted. Hidden where there is no role."""

    change_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[PartLine, ...] = ()
        self._buttons: dict[Role, QPushButton] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4 * STEP)
        self._grid.setVerticalSpacing(STEP)
        self._grid.setColumnStretch(2, 1)
        self.hide()

    @property
    def shown(self) -> tuple[PartLine, ...]:
        """The lines as they stand."""
        return self._shown

    @property
    def buttons(self) -> Mapping[Role, QPushButton]:
        """What changes the file of a role."""
        return self._buttons

    def show_lines(self, lines: Sequence[PartLine]) -> None:
        """Show these."""
        self.setVisible(bool(lines))
        if tuple(lines) == self._shown:
            return
        focused = next((role for role, each in self._buttons.items() if each.hasFocus()), None)
        self._shown = tuple(lines)
        clear(self._grid)
        self._buttons = {line.role: self._add(place, line) for place, line in enumerate(lines)}
        if focused in self._buttons:
            self._buttons[focused].setFocus()

    def _add(self, place: int, line: PartLine) -> QPushButton:
        role = role_in_words(line.role)
        said = ElidedLabel(at_left=True)
        said.setText(line.said)
        change = button(text("Change"), partial(self.change_wanted.emit, line.role), "quiet")
        change.setAccessibleName(text("Change: {what}", what=role))
        change.setAccessibleDescription(f"{line.name} {line.said}")
        for column, widget in enumerate((label(role, "dim"), label(line.name), said, change)):
            self._grid.addWidget(widget, place, column)
        return change
