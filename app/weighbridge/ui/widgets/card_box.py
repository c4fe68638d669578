"""A graphics card by its name: chosen from a list that narrows as one types, or typed as people call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import text
from weighbridge.hardware.cards import Card
from weighbridge.ui.widgets.parts import fill, give_way

_LISTED = 14
_LETTERS = 15


class CardBox(QComboBox):
    """`chosen` tells a Card, or None for those that are here; `unknown` the error that a typed name ends in.

    `find` gives the card that a typed name means, or raises Refused.
    """

    chosen = Signal(object)
    unknown = Signal(object)

    def __init__(self, find: Callable[[str], Card], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._find = find
        self._cards: Mapping[str, Card] = {}
        self._told = text("as here")
        self._typed = QLineEdit()
        self.setLineEdit(self._typed)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMaxVisibleItems(_LISTED)
        completer = QCompleter(self.model(), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setMaxVisibleItems(_LISTED)
        self.setCompleter(completer)
        for part in (self, self._typed):
            part.setAccessibleName(text("Graphics card"))
        self.setToolTip(text("Type a part of its name, such as 4090"))
        give_way(self, _LETTERS)
        self.show_name(None)
        self.activated.connect(lambda _place: self._named())
        self._typed.editingFinished.connect(self._named)

    def offer(self, cards: Mapping[str, Card]) -> None:
        """The cards to choose from, by name; what stands there stays."""
        self._cards = cards
        shown = self._typed.text()
        fill(self, [text("as here"), *cards])
        self._typed.setText(shown)

    def show_name(self, name: str | None) -> None:
        """Show a card, and tell nobody; None: those that are here."""
        self._told = name or text("as here")
        self._typed.setText(self._told)
        self._typed.setCursorPosition(0)

    def begin(self) -> None:
        """Take the focus, for a name to be typed."""
        self.setFocus()
        self._typed.selectAll()

    def _named(self) -> None:
        """Tell what is named now, unless it was told already; an emptied name is "as here"."""
        name = self._typed.text().strip() or text("as here")
        if name == self._told:
            return
        self._told = name
        if name == text("as here"):
            self.show_name(None)
            self.chosen.emit(None)
            return
        try:
            card = self._cards.get(name) or self._find(name)
        except WeighbridgeError as error:
            self.unknown.emit(error)
        else:
            self.show_name(self._name_of(card))
            self.chosen.emit(card)

    def _name_of(self, card: Card) -> str:
        """As it is listed, with its memory where it is sold with several."""
        alike = (name for name, one in self._cards.items() if _product(one) == _product(card))
        return next(alike, card.name)


def _product(card: Card) -> tuple[str, int | None]:
    return card.name, card.memory_bytes
