"""Every request that Weighbridge made, what leaves this computer, and the switch that ends all of it."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from weighbridge.base.words import text
from weighbridge.hub.network import Request
from weighbridge.ui.clipboard import copy
from weighbridge.ui.models.network_model import NetworkModel
from weighbridge.ui.network_words import as_text, is_meant, sum_in_words
from weighbridge.ui.pages.network_account import AccountPanel
from weighbridge.ui.pages.page import Page
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.beside import Beside
from weighbridge.ui.widgets.cells import CellDelegate
from weighbridge.ui.widgets.fitted_area import FittedArea
from weighbridge.ui.widgets.parts import action, button, column, label, panel, row
from weighbridge.ui.widgets.tables import Table

_FIELD_EMS = 18


class NetworkPage(Page):
    """Shows `services.network`, at the pace of `bus.network_changed` and only while it is in sight."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._offline = self._make_switch()
        self._forced = label("", "dim", wrap=True)
        self._sum = label("", "dim")
        self._account = AccountPanel(services)
        self._filter = self._make_filter()
        self._copy = button(text("Copy"), self.copy_shown, name=text("Copy the requests shown"))
        self._clear = button(text("Clear"), self.clear, name=text("Forget all requests"))
        self._model = NetworkModel(self)
        self._table = self._make_table()
        self._none = label("", "dim")
        self._body = QStackedWidget()
        self._lay_out()
        services.theme.dress(self)
        self._add_actions()
        services.bus.network_changed.connect(self._changed)
        services.bus.sign_in_wanted.connect(self._account.open)
        self._account.opened.connect(self._bring_account)
        self._leave = services.settings.subscribe(lambda _value: self._show_switch())
        self._show_switch()

    @property
    def account(self) -> AccountPanel:
        """Who is signed in at the Hub."""
        return self._account

    def entered(self) -> None:
        self._show_switch()
        self._account.look()
        self._show_requests()
        self._offline.setFocus()

    def left(self) -> None:
        self._account.close_it()

    def escape(self) -> bool:
        if self._account.escape():
            return True
        if not self._filter.text():
            return False
        self._filter.clear()
        return True

    def shut(self) -> None:
        self._account.close_it()
        self._leave()

    def copy_shown(self) -> None:
        """Put what is shown on the clipboard, a request a line."""
        copy(as_text(self._model.requests), self._copy)

    def clear(self) -> None:
        """Forget the requests that are over."""
        self._services.network.clear()
        self._show_requests()

    def _make_switch(self) -> QCheckBox:
        made = QCheckBox(text("Stay offline"))
        made.toggled.connect(self._switched)
        return made

    def _make_filter(self) -> QLineEdit:
        made = QLineEdit()
        made.setPlaceholderText(text("Filter by host, purpose or status"))
        made.setAccessibleName(made.placeholderText())
        made.setClearButtonEnabled(True)
        made.setFixedWidth(self.fontMetrics().height() * _FIELD_EMS)
        made.textChanged.connect(self._show_requests)
        return made

    def _make_table(self) -> Table:
        made = Table(self._model, text("Requests"), NetworkModel.STRETCHED, NetworkModel.GIVEN_UP)
        made.setItemDelegate(CellDelegate(self._services.theme, made))
        return made

    def _lay_out(self) -> None:
        head = row(label(text("Network"), "title"), self._sum, None, gap=3)
        inner = QWidget()
        column(self._told_panel(), self._account, owner=inner, gap=3)
        self._above = FittedArea(inner)  # where there is little room it scrolls, for the requests are never left out
        whole = column(head, self._above, self._requests_panel(), owner=self, margin=4, gap=3)
        whole.setStretch(2, 1)

    def _told_panel(self) -> QFrame:
        leaves = text(
            "The Hub is told what you look for or fetch and, where you are signed in, your token; a package index is"
            " told the names of packages. Chats, files and how you use Weighbridge are never sent, and nothing is"
            " asked that you have not caused."
        )
        does = text(
            "Offline, nothing is asked of the Hub or a package index: searches and downloads wait, and what is here"
            " works as before."
        )
        about = label(text("What leaves this computer"), "heading")
        switch = column(self._offline, label(does, "dim", wrap=True), self._forced, gap=1)
        made = panel(about, label(leaves, wrap=True), switch, margin=4)
        inner = made.layout()
        assert isinstance(inner, QVBoxLayout)
        inner.insertSpacing(2, STEP)
        return made

    def _requests_panel(self) -> QFrame:
        acts = QWidget()
        row(self._filter, self._copy, self._clear, owner=acts, gap=3)
        head = row(Beside(label(text("Requests since the start"), "heading"), acts, gap=3))
        head.setContentsMargins(4 * STEP, 3 * STEP, 3 * STEP, STEP)
        self._none.setContentsMargins(4 * STEP, STEP, 4 * STEP, STEP)
        empty = QFrame()
        column(self._none, None, owner=empty)
        self._body.addWidget(empty)
        self._body.addWidget(self._table)
        made = panel(head, self._body, margin=0)
        made.setContentsMargins(1, 1, 1, 1)
        inner = made.layout()
        assert isinstance(inner, QVBoxLayout)
        inner.setStretch(1, 1)
        return made

    def _add_actions(self) -> None:
        action(self, text("Stay offline, or no longer"), self._offline.toggle)
        action(self, text("Sign in at the Hugging Face Hub"), self._account.open)
        action(self, text("Filter the requests"), self._filter.setFocus, "Ctrl+F")
        action(self, text("Copy the requests shown"), self.copy_shown, "Ctrl+Shift+E")
        action(self, text("Forget all requests"), self.clear)

    def _switched(self, on: bool) -> None:
        if on != self._services.settings.value.offline:
            self._services.settings.change(offline=on)

    def _show_switch(self) -> None:
        chosen = self._services.settings.value.offline
        self._offline.setChecked(chosen)
        forced = self._services.access.offline() and not chosen
        self._forced.setVisible(forced)
        self._forced.setText(text("HF_HUB_OFFLINE keeps you offline now, whatever is set here.") if forced else "")

    def _bring_account(self) -> None:
        """What was unfolded comes into sight, once it has its place."""
        QTimer.singleShot(0, self, lambda: self._above.ensureWidgetVisible(self._account, 0, 0))

    def _changed(self) -> None:
        if self.isVisible():
            self._show_requests()

    def _show_requests(self) -> None:
        made = self._services.network.requests
        meant = self._meant(made)
        self._body.setCurrentIndex(1 if meant else 0)  # a table out of sight would measure every row
        self._model.show_requests(meant)
        self._sum.setText(sum_in_words(made) if made else "")
        self._none.setText(text("No request says that.") if made else text("Nothing was asked of anyone yet."))
        self._copy.setEnabled(bool(meant))
        self._clear.setEnabled(bool(made))

    def _meant(self, made: tuple[Request, ...]) -> tuple[Request, ...]:
        words = self._filter.text().casefold().split()
        return tuple(request for request in made if is_meant(request, words)) if words else made
