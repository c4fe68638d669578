"""The cards in their order: what is here, what suits this machine, and folded the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLayout, QVBoxLayout, QWidget

from weighbridge.base.words import mark, plural, text
from weighbridge.choices.engine_order import Standing
from weighbridge.ui.engines.card import EngineCard
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.parts import column, label, panel

_HEADINGS: Mapping[Standing, str] = {
    Standing.HERE: mark("Installed engines"),
    Standing.SUITED: mark("For this machine"),
}


class Sections(QWidget):
    """Holds cards; each stays as it is where it moves, with what is unfolded in it. A section without any is hidden.

    `elsewhere`, what runs but not by us, stands after what is here.
    """

    def __init__(self, theme: Theme, elsewhere: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._headings: dict[Standing, QLabel] = {}
        self._columns: dict[Standing, QVBoxLayout] = {}
        self._order: tuple[tuple[Standing, EngineCard], ...] = ()
        self._stops: tuple[QWidget, ...] = ()
        whole = column(owner=self, gap=2)
        for place, heading in _HEADINGS.items():
            self._headings[place] = label(text(heading), "heading")
            self._headings[place].setContentsMargins(0, STEP, 0, 0)
            self._columns[place] = column(gap=3)
            whole.addWidget(self._headings[place])
            whole.addLayout(self._columns[place])
            if place is Standing.HERE:
                whole.addWidget(panel(elsewhere, margin=4))
        inner = QWidget()
        self._columns[Standing.OTHER] = column(owner=inner, gap=3)
        self._columns[Standing.OTHER].setContentsMargins(0, 2 * STEP, 0, 0)
        self._fold = Fold(theme, inner)
        whole.addWidget(self._fold)
        self.arrange(())

    @property
    def fold(self) -> Fold:
        """What unfolds the engines that are for other machines."""
        return self._fold

    @property
    def headings(self) -> list[str]:
        """Those in sight, from the top."""
        return [made.text() for made in self._headings.values() if not made.isHidden()]

    def arrange(self, order: Sequence[tuple[Standing, EngineCard]]) -> None:
        """Put the cards, as they are filled now, into their sections from the top. None of them goes away."""
        if tuple(order) != self._order:
            self._order = tuple(order)
            for place, card in order:
                for each in self._columns.values():
                    each.removeWidget(card)
                self._columns[place].addWidget(card)
        standings = [place for place, _ in order]
        for place, heading in self._headings.items():
            heading.setVisible(place in standings)
        count = standings.count(Standing.OTHER)
        self._fold.setVisible(count > 0)
        self._fold.say(plural("{count} engine for other machines", "{count} engines for other machines", count))

        self._lead_keyboard()

    def _lead_keyboard(self) -> None:
        """Tab goes as the eye does: Qt leads it as widgets were made, wherever they have moved since."""
        stops = tuple(_stops(self.layout()))
        if stops != self._stops:
            self._stops = stops
            for before, after in pairwise(stops):
                QWidget.setTabOrder(before, after)

    def unfold_for(self, card: EngineCard) -> None:
        """Have a card in sight."""
        if (Standing.OTHER, card) in self._order:
            self._fold.show_open(True)


def _stops(layout: QLayout | None) -> Iterator[QWidget]:
    """What the keyboard stops at in `layout`, from the top, whether it is shown now or not."""
    items = [] if layout is None else [layout.itemAt(at) for at in range(layout.count())]
    for item in filter(None, items):
        widget = item.widget()
        if widget is not None and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget
        yield from _stops(item.layout() if widget is None else widget.layout())
