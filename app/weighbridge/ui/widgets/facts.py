"""Names and values in two columns; a basis stands after its value."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from weighbridge.ui.machine_words import Fact
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import clear, label, selectable


class Facts(QWidget):
    """Shows facts; labels stay where the names are the same, so that a selection of text stays."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6 * STEP)
        self._grid.setVerticalSpacing(2 * STEP)
        self._grid.setColumnStretch(1, 1)
        self._values: list[QLabel] = []
        self._names: tuple[str, ...] = ()

    @property
    def shown(self) -> list[str]:
        """The values as they stand."""
        return [made.text() for made in self._values]

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show `facts`."""
        names = tuple(fact.name for fact in facts)
        if names != self._names:
            self._names = names
            clear(self._grid)
            self._values = [self._add(place, fact) for place, fact in enumerate(facts)]
        for made, fact in zip(self._values, facts, strict=True):
            shown = f"{fact.value} · {fact.basis}" if fact.basis else fact.value
            if made.text() != shown:
                made.setText(shown)

    def _add(self, place: int, fact: Fact) -> QLabel:
        value = selectable(label("", wrap=True))
        value.setAccessibleName(fact.name)
        self._grid.addWidget(label(fact.name, "dim"), place, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, place, 1)
        return value
