"""What was found of a repository, to choose from before anything is fetched."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QSizePolicy, QWidget

from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.hub.offers import Found, Offer
from weighbridge.hub.wanted import Wanted, name_of
from weighbridge.ui.models.offers_model import OffersModel
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.cells import CellDelegate
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.parts import button, clear, column, label, row
from weighbridge.ui.widgets.tables import Table

_LEAST_ROWS, _MOST_ROWS = 2, 6
_SHORT_COMMIT = 8


class OffersPanel(QFrame):
    """Hidden until something is found. `chosen` tells a Wanted; `branch_chosen` a branch to look at instead."""

    chosen = Signal(object)
    branch_chosen = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._free_bytes: int | None = None
        self._what = label("", "heading")
        self._where = label("", "dim")
        self._gated = label(text("Its licence has to be accepted on its page first."), "dim", wrap=True)
        self._model = OffersModel(self)
        self._table = _OffersTable(self._model)
        self._table.setItemDelegate(CellDelegate(theme, self._table))
        self._none = label("", wrap=True)
        self._branches = row(gap=1)
        self._seeing = QCheckBox(text("With the file by which it sees pictures"))
        self._room = ElidedLabel()
        self._fetch = button(text("Fetch"), self._take, "primary")
        self._lay_out()
        self._table.entered.connect(self._take)
        self._table.selectionModel().currentRowChanged.connect(self._show_choice)
        self._seeing.toggled.connect(self._show_choice)
        self.hide()

    @property
    def wanted(self) -> Wanted | None:
        """What would be fetched now."""
        offer = self._offer
        if offer is None:
            return None
        return offer.seeing if offer.seeing is not None and self._seeing.isChecked() else offer.plain

    def show_found(self, found: Found, free_bytes: int | None) -> None:
        """Show what was found; `free_bytes` are those of the disk that it would go to, None where untold."""
        self._free_bytes = free_bytes
        repository = found.repository
        self._what.setText(repository.id)
        self._where.setText(f"{repository.revision} · {repository.commit[:_SHORT_COMMIT]}")
        self._gated.setVisible(repository.gated)
        self._model.show_offers(found.offers)
        self._table.setVisible(bool(found.offers))
        self._table.updateGeometry()
        self._show_branches(found.branches)
        self.show()
        self._choose(found.preferred, found.offers)

    def close_it(self) -> None:
        """Go away, nothing chosen."""
        self.hide()
        self.closed.emit()

    @property
    def _offer(self) -> Offer | None:
        return self._model.offer(self._table.currentIndex().row())

    def _lay_out(self) -> None:
        self._fetch.setMinimumWidth(self.fontMetrics().height() * 6)
        leave = button(text("Close"), self.close_it, "quiet", text("Close, and fetch nothing"))
        head = row(self._what, self._where, None, leave, gap=3)
        foot = row(self._seeing, self._room, self._fetch, gap=3)
        foot.setStretch(1, 1)
        told = column(head, self._gated, self._none, self._branches, gap=1)
        told.setContentsMargins(4 * STEP, 2 * STEP, 3 * STEP, 0)
        foot.setContentsMargins(4 * STEP, STEP, 3 * STEP, 3 * STEP)
        whole = column(told, self._table, foot, owner=self, gap=1)
        whole.setContentsMargins(1, 1, 1, 1)

    def _show_branches(self, branches: Sequence[str]) -> None:
        clear(self._branches)
        self._none.setVisible(bool(branches))
        if branches:
            self._none.setText(text("There is nothing to fetch in this branch. Look at another:"))
        for name in branches:
            self._branches.addWidget(button(name, lambda name=name: self.branch_chosen.emit(name)))  # type: ignore[misc]
        self._branches.addStretch(1)

    def _choose(self, preferred: Offer | None, offers: Sequence[Offer]) -> None:
        fetchable = [place for place, offer in enumerate(offers) if offer.plain is not None]
        wished = [place for place in fetchable if offers[place] is preferred] or fetchable
        if wished:
            self._table.selectRow(wished[0])
            self._table.setFocus()
        elif (item := self._branches.itemAt(0)) is not None and (first := item.widget()) is not None:
            first.setFocus()
        self._show_choice()

    def _show_choice(self) -> None:
        offer, wanted = self._offer, self.wanted
        self._seeing.setVisible(offer is not None and offer.seeing is not None)
        self._fetch.setVisible(wanted is not None)
        self._room.setVisible(wanted is not None)
        if wanted is None or offer is None:
            return
        self._fetch.setAccessibleName(text("Fetch {name}", name=name_of(offer.variant)))
        needed = size(wanted.size_bytes)
        free = text("{size}, of {free} free on the disk", size=needed, free=size(self._free_bytes))
        self._room.setText(needed if self._free_bytes is None else free)

    def _take(self) -> None:
        wanted = self.wanted
        if wanted is not None:
            self.hide()
            self.chosen.emit(wanted)


class _OffersTable(Table):
    """Enter or a double click takes the row."""

    entered = Signal()

    def __init__(self, model: OffersModel) -> None:
        self._offers = model
        super().__init__(model, text("What there is to fetch"), OffersModel.STRETCHED, OffersModel.GIVEN_UP)
        self.doubleClicked.connect(lambda _index: self.entered.emit())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.height_of(_MOST_ROWS))

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.height_of(_LEAST_ROWS))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def columns_without_use(self) -> Sequence[int]:
        return () if self._offers.has_problems else (self._offers.columnCount() - 1,)
