"""What would make a model fit, or fast enough: the cheapest changes, those that can be made here with a button."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSpinBox, QWidget

from weighbridge.base.units import THIN
from weighbridge.base.words import text
from weighbridge.ui.changes_view import MOST, ChangeRow
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button, column, label, row, selectable

MOST_TPS = 2000


class ChangesList(QWidget):
    """`wanted` tells the speed that is asked for in tokens a second, None for any; `taken` the place of a change whose
    button was pressed.
    """

    wanted = Signal(object)
    taken = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._least = self._make_least()
        self._head = label("", "dim", wrap=True)
        self._rows = [self._make_row(place) for place in range(MOST)]
        self._lay_out()
        self.show_changes((), "")

    @property
    def least(self) -> QSpinBox:
        """The speed that is wanted; 0: any."""
        return self._least

    @property
    def head(self) -> str:
        """What the list is of."""
        return self._head.text()

    @property
    def rows(self) -> list[str]:
        """What is listed."""
        return [said.text() for said, _ in self._rows if not said.isHidden()]

    @property
    def buttons(self) -> list[QPushButton]:
        """The buttons that are shown."""
        return [act for _, act in self._rows if not act.isHidden()]

    def show_wanted(self, tps: float | None) -> None:
        """Show what is asked for, and tell nobody."""
        blocked = self._least.blockSignals(True)
        self._least.setValue(round(tps or 0))
        self._least.blockSignals(blocked)

    def show_changes(self, changes: Sequence[ChangeRow], head: str) -> None:
        """Show at most three under `head`."""
        self._head.setText(head)
        self._head.setVisible(bool(head))
        for place, (said, act) in enumerate(self._rows):
            shown = changes[place] if place < len(changes) else None
            said.setVisible(shown is not None)
            act.setVisible(shown is not None and bool(shown.action))
            if shown is not None:
                said.setText(shown.said)
                act.setText(shown.action)
                act.setAccessibleName(f"{shown.action}: {shown.said}")

    def _make_least(self) -> QSpinBox:
        made = QSpinBox()
        made.setRange(0, MOST_TPS)
        made.setSpecialValueText(text("any speed"))
        made.setSuffix(f"{THIN}tok/s")
        made.setKeyboardTracking(False)
        made.setAlignment(Qt.AlignmentFlag.AlignRight)
        made.setAccessibleName(text("Wanted speed in tokens a second"))
        made.setToolTip(text("What it would take to write at least so fast"))
        made.valueChanged.connect(lambda tps: self.wanted.emit(float(tps) if tps else None))
        return made

    def _make_row(self, place: int) -> tuple[QLabel, QPushButton]:
        return selectable(label("", wrap=True)), button("", lambda: self.taken.emit(place))

    def _lay_out(self) -> None:
        named = label(text("At least"), "dim")
        named.setBuddy(self._least)
        grid = QGridLayout()
        grid.setHorizontalSpacing(3 * STEP)
        grid.setVerticalSpacing(STEP)
        grid.setColumnStretch(0, 1)
        for place, (said, act) in enumerate(self._rows):
            grid.addWidget(said, place, 0)
            grid.addWidget(act, place, 1)
        head = row(named, self._least, self._head, gap=2)
        head.setStretch(2, 1)
        column(head, grid, owner=self, gap=1)
