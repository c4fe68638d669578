"""Above the settings of cards: the split over several, and all on one where one holds it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.words import verdict_in_words
from weighbridge.estimates.estimate import PlaceKind
from weighbridge.estimates.placement import shares_of
from weighbridge.ui.load.reckoning import Reckoned, cards_of
from weighbridge.ui.load.split_bar import SplitBar
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.parts import button, column, label, row


class CardsHead(QWidget):
    """Hidden where there are not several cards. `split` tells shares, `one_card` the load on a single one."""

    split = Signal(object)
    one_card = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._one: Choice | None = None
        self._bar = SplitBar(theme)
        self._bar.split.connect(self.split)
        self._button = button(text("All on one card"), self._take)
        self._said = label("", "dim", wrap=True)
        line = row(self._button, self._said, gap=2)
        line.setStretch(1, 1)
        column(self._bar, line, owner=self, gap=1)
        self.hide()

    @property
    def bar(self) -> SplitBar:
        """The split."""
        return self._bar

    @property
    def button(self) -> QPushButton:
        """Puts all on one card."""
        return self._button

    @property
    def said(self) -> str:
        """Which card, and what is left there; or that none holds it."""
        return self._said.text()

    def show_reckoned(self, reckoned: Reckoned | None) -> None:
        """Show how the cards share the layers now."""
        choice = None if reckoned is None else reckoned.choice
        names = () if choice is None else cards_of(choice)
        self.setVisible(len(names) > 1)
        if choice is None or reckoned is None or choice.fit is None or len(names) < 2:
            return
        free = [place.free_bytes for place in choice.places if place.kind is PlaceKind.DEDICATED]
        self._bar.show_shares(names, shares_of(choice.fit.plan, free))
        self._one = reckoned.one_card
        self._button.setEnabled(self._one is not None)
        self._said.setText(_said(self._one, names))

    def _take(self) -> None:
        if self._one is not None:
            self.one_card.emit(self._one.load)


def _said(one: Choice | None, names: tuple[str, ...]) -> str:
    if one is None:
        return text("No single card holds all of it.")
    return text("{card}: {verdict}", card=names[one.load.main_gpu or 0], verdict=verdict_in_words(one.fit))
