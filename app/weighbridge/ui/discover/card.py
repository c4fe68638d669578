"""A model's card: Markdown of strangers, of which nothing is fetched, and no link opened before it was shown."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.words import text
from weighbridge.ui.background import Background
from weighbridge.ui.discover.card_text import plain_markdown
from weighbridge.ui.markdown.view import MarkdownView
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.link_row import LinkRow
from weighbridge.ui.widgets.parts import column, label


class CardView(QWidget):
    """Shows one card, or why there is none."""

    def __init__(self, theme: Theme, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._said = label("", "dim", wrap=True)
        self._links = LinkRow()
        self._view = MarkdownView(theme, background)
        self._view.link_wanted.connect(self._links.ask)
        column(self._said, self._links, self._view, owner=self, gap=2)

    @property
    def links(self) -> LinkRow:
        """Where an address is shown before it is opened."""
        return self._links

    @property
    def view(self) -> MarkdownView:
        """The card as it is drawn."""
        return self._view

    @property
    def raw(self) -> str:
        """The Markdown that is shown."""
        return self._view.raw

    @property
    def said(self) -> str:
        """What stands there in place of a card; "" where there is one."""
        return self._said.text()

    def wait(self) -> None:
        """It is being fetched."""
        self._show(text("Reading the card…"), "")

    def show_card(self, card: str | None) -> None:
        """Show a card as the Hub has it; None: there is none."""
        shown = "" if card is None else plain_markdown(card)
        self._show("" if shown else text("It has no card."), shown)

    def show_error(self, error: BaseException) -> None:
        """It could not be read."""
        said = explain(error) if isinstance(error, WeighbridgeError) else text("The card could not be read.")
        self._show(str(said), "")

    def discard(self) -> None:
        """Stop all work: the view goes away."""
        self._view.discard()

    def _show(self, said: str, markdown: str) -> None:
        self._said.setText(said)
        self._said.setVisible(bool(said))
        self._links.hide()
        self._view.show_text(markdown)
        self._view.setVisible(bool(markdown))
