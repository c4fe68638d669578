"""What would make a model fit, or fast enough: the cheapest changes, those that can be made here with a button."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from weighbridge.ui.changes_view import MOST, ChangeRow
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button, column, label, selectable


class ChangesList(QWidget):
    """`taken` tells the place of a change whose button was pressed. Hidden where there is nothing to say."""

    taken = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._head = label("", "dim", wrap=True)
        self._rows = [self._make_row(place) for place in range(MOST)]
        grid = QGridLayout()
        grid.setHorizontalSpacing(3 * STEP)
        grid.setVerticalSpacing(STEP)
        grid.setColumnStretch(0, 1)
        for place, (said, act) in enumerate(self._rows):
            grid.addWidget(said, place, 0)
            grid.addWidget(act, place, 1)
        column(self._head, grid, owner=self, gap=1)
        self.show_changes((), "")

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

    def show_changes(self, changes: Sequence[ChangeRow], head: str) -> None:
        """Show at most three under `head`."""
        self._head.setText(head)
        for place, (said, act) in enumerate(self._rows):
            shown = changes[place] if place < len(changes) else None
            said.setVisible(shown is not None)
            act.setVisible(shown is not None and bool(shown.action))
            if shown is not None:
                said.setText(shown.said)
                act.setText(shown.action)
                act.setAccessibleName(f"{shown.action}: {shown.said}")
        self.setVisible(bool(head))

    def _make_row(self, place: int) -> tuple[QLabel, QPushButton]:
        return selectable(label("", wrap=True)), button("", lambda: self.taken.emit(place))
