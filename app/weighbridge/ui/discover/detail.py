"""The chosen choice: what it is, what it would take, its card and its chat template, and getting it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, QSize, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from weighbridge.base.units import size
from weighbridge.base.words import mark, text
from weighbridge.hub.looking import MAIN
from weighbridge.hub.wanted import Wanted
from weighbridge.ui.background import Background
from weighbridge.ui.close_look import Closely
from weighbridge.ui.discover.card import CardView
from weighbridge.ui.discover.rows import Act, ChoiceRow
from weighbridge.ui.icons import pixmap
from weighbridge.ui.speed_view import SpeedView
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.fitted_area import FittedArea
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.parts import button, column, give_role, label, row, selectable
from weighbridge.ui.widgets.template_view import TemplateView
from weighbridge.ui.widgets.weighed_view import WeighedView

_LAID_OUT_MS = 400
"""After so long, what was unfolded has its height; until then its beginning is kept in sight."""


class ChoiceDetail(QFrame):
    """The buttons only ask; the page acts. `card_wanted`: the card was unfolded, and may have to be fetched."""

    act_wanted = Signal()
    page_wanted = Signal()
    card_wanted = Signal()

    def __init__(self, theme: Theme, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._shown: ChoiceRow | None = None
        self._title = selectable(label("", "heading"))
        self._flags = {name: Badge(theme, kind, text(words)) for name, (kind, words) in _FLAGS.items()}
        self._act = button("", self.act_wanted.emit, "primary")
        self._page = button(text("Its page"), self.page_wanted.emit, "quiet", text("Open its page on the Hub"))
        self._place = ElidedLabel(at_left=True)
        self._why = selectable(label("", wrap=True))
        self._star = QLabel()
        self._note = selectable(label("", "dim", wrap=True))
        self._seeing = QCheckBox("")
        self._seeing.setChecked(True)
        self._weighed = WeighedView(theme)
        self._card = CardView(theme, background)
        self._card_fold = Fold(theme, self._card)
        self._card_fold.say(text("Model card"))
        self._card_fold.unfolded.connect(self._card_unfolded)
        self._to_card = QTimer(self, interval=_LAID_OUT_MS, singleShot=True)
        self._template = TemplateView(theme)
        self._theme = theme
        self._lay_out()
        theme.changed.connect(self._tint)
        self._tint()

    @property
    def weighed(self) -> WeighedView:
        """What it would take, and how fast it would be."""
        return self._weighed

    @property
    def card(self) -> CardView:
        """Its card."""
        return self._card

    @property
    def card_fold(self) -> Fold:
        """The line that unfolds the card."""
        return self._card_fold

    @property
    def template(self) -> TemplateView:
        """Its chat template."""
        return self._template

    @property
    def act(self) -> QPushButton:
        """Get, Open, or how far it is."""
        return self._act

    @property
    def seeing(self) -> QCheckBox:
        """Whether the file by which it sees pictures is fetched with it."""
        return self._seeing

    @property
    def why(self) -> str:
        """Why it is recommended; "" where it is not."""
        return self._why.text()

    @property
    def wanted(self) -> Wanted | None:
        """What would be fetched."""
        offer = self._shown.offered.offer if self._shown else None
        if offer is None:
            return None
        return offer.seeing if offer.seeing is not None and self._seeing.isChecked() else offer.plain

    def show_choice(self, shown: ChoiceRow, close: Closely | None, speed: SpeedView | None, reason: str) -> None:
        """Show `shown`; `reason` is why it is recommended, "" where it is not."""
        self._shown = shown
        model = shown.offered.model
        self._title.setText(model.title if model is not None else shown.title)
        self._place.setText(_place_in_words(shown))
        self._why.setText(text("Recommended: {reason}", reason=reason) if reason else "")
        for widget in (self._star, self._why):
            widget.setVisible(bool(reason))
        self._show_flags(shown)
        self._show_act(shown)
        self._show_seeing(shown)
        if shown.weighed is not None:
            self._weighed.show_weighed(shown.weighed, close, speed)
        else:
            self._weighed.fit.hide()
            self._weighed.where.setText("")
        self._weighed.setVisible(shown.weighed is not None)

    def show_note(self, words: str) -> None:
        """A line on what is being read, or could not be; "" for none."""
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def keep_lines(self, least: int) -> None:
        """Keep so many lines in sight where others need the room."""
        self._area.keep_lines(least)

    def discard(self) -> None:
        """Stop all work: the page goes away."""
        self._to_card.stop()
        self._card.discard()

    def _lay_out(self) -> None:
        top = row(self._title, self._weighed.fit, self._weighed.where, *self._flags.values(), self._act)
        top.setStretch(2, 1)
        below = row(self._place, self._seeing, self._page, gap=3)
        below.setStretch(0, 1)
        why = row(self._star, self._why, gap=1)
        why.setStretch(1, 1)
        inner = QWidget()
        held = column(why, self._note, self._weighed, self._template, self._card_fold, owner=inner, gap=2)
        held.setContentsMargins(4 * STEP, 0, 4 * STEP, 3 * STEP)
        head = column(top, below, gap=1)
        head.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 0)
        self._area = FittedArea(inner)
        self._area.verticalScrollBar().rangeChanged.connect(self._keep_card)
        outer = column(head, self._area, owner=self, gap=2)
        outer.setContentsMargins(1, 1, 1, 1)
        self._note.hide()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def _card_unfolded(self, is_open: bool) -> None:
        if is_open:
            self.card_wanted.emit()
            self._to_card.start()

    def show_card(self, card: str | None) -> None:
        """Show the card, from its beginning."""
        self._card.show_card(card)
        self._to_card.start()

    def _keep_card(self) -> None:
        """The card finds its height bit by bit."""
        if self._to_card.isActive():
            self._area.verticalScrollBar().setValue(self._card_fold.y())

    def _tint(self) -> None:
        side = self.fontMetrics().height()
        self._star.setPixmap(pixmap("star", self._theme.tokens.accent, side, self.devicePixelRatioF()))
        self._star.setFixedSize(QSize(side, side))

    def _show_flags(self, shown: ChoiceRow) -> None:
        offer = shown.offered.offer
        self._flags["gated"].setVisible(shown.is_gated)
        self._flags["code"].setVisible(offer is not None and offer.variant.asks_to_run_code)
        self._flags["pickle"].setVisible(shown.problem is not None and shown.problem.code in _PICKLES)

    def _show_act(self, shown: ChoiceRow) -> None:
        words = shown.act_in_words
        self._act.setVisible(bool(words))
        if shown.act is Act.GET and (wanted := self.wanted) is not None:
            words = text("{get} · {size}", get=words, size=size(wanted.size_bytes))
        self._act.setText(words)
        self._act.setAccessibleName(words)
        give_role(self._act, "" if shown.act is Act.FOLLOW else "primary")

    def _show_seeing(self, shown: ChoiceRow) -> None:
        offer = shown.offered.offer
        there = shown.act is Act.GET and offer is not None and offer.seeing is not None and offer.plain is not None
        self._seeing.setVisible(there)
        if there and offer is not None and offer.seeing is not None and offer.plain is not None:
            more = offer.seeing.size_bytes - offer.plain.size_bytes
            with QSignalBlocker(self._seeing):
                self._seeing.setText(text("With the file by which it sees pictures ({size})", size=size(more)))


def _place_in_words(shown: ChoiceRow) -> str:
    """ "owner/name · branch · apache-2.0"."""
    spot = shown.offered.spot
    parts = [spot.repo_id]
    if spot.revision != MAIN:
        parts.append(spot.revision)
    told = spot.hit.license if spot.hit else None
    parts.append(text("licence not told") if told is None else told)
    return " · ".join(parts)


_PICKLES = frozenset({"model.pickle"})
_FLAGS: Mapping[str, tuple[str, str]] = {
    "gated": ("tight", mark("Licence to accept")),
    "code": ("no", mark("Asks to run code")),
    "pickle": ("no", mark("Pickle: refused")),
}
