"""Discover: what there is on the Hub, every choice weighed before a weight is fetched."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.units import number
from weighbridge.base.words import plural, text
from weighbridge.hub.hits import Query
from weighbridge.hub.pace import asked_wait_s
from weighbridge.hub.pasted import pasted
from weighbridge.hub.reference import HOSTS, Reference
from weighbridge.ui.discover.discovery import Discovery
from weighbridge.ui.discover.filters import Filters
from weighbridge.ui.discover.group_list import GroupList
from weighbridge.ui.discover.group_row import in_order_of
from weighbridge.ui.discover.pane import ChoicesPane
from weighbridge.ui.discover.weighed_rows import Standing, counted, group_rows
from weighbridge.ui.pages.page import Page
from weighbridge.ui.remedies import remedies
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.empty_state import EmptyState
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.parts import action, column, label, panel, row

_DRAW_MS = 40
"""What is told in between is drawn together."""

_SECOND_MS = 1000
_WIDE_EMS = 62
"""A page that is less wide shows the list or the choices, not both."""

_LIST_EMS = 18


class DiscoverPage(Page):
    """Asks the Hub only once its button was pressed, and after that only for what the user looks at."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._discovery = Discovery(services, self)
        self._pane = ChoicesPane(services, self._discovery)
        self._filters = Filters(services.theme, label(text("Discover"), "title"), self._pane.machine.opener)
        self._list = GroupList(services.theme)
        self._nothing = label("", "dim", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._status = ElidedLabel(at_left=True)
        self._errors = ErrorPanel(services.theme)
        self._entry = EmptyState("", "", self.begin)
        self._body = QStackedWidget()
        self._is_begun = self._is_shut = False
        self._shows_list = True
        self._named = ""
        self._again_at_s = 0.0
        self._draw_later = QTimer(self, interval=_DRAW_MS, singleShot=True)
        self._draw_later.timeout.connect(self._draw)
        self._clock = QTimer(self, interval=_SECOND_MS)
        self._clock.timeout.connect(self._tick)
        self._lay_out()
        services.theme.dress(self)
        self._add_actions()
        self._connect()
        self._say_entry()
        self._show_body()

    @property
    def discovery(self) -> Discovery:
        """What is known."""
        return self._discovery

    @property
    def pane(self) -> ChoicesPane:
        """What is open."""
        return self._pane

    @property
    def filters(self) -> Filters:
        """What is looked for."""
        return self._filters

    @property
    def list(self) -> GroupList:
        """The base models that were found."""
        return self._list

    @property
    def entry(self) -> EmptyState:
        """What stands there before the Hub may be asked."""
        return self._entry

    @property
    def errors(self) -> ErrorPanel:
        """What went wrong."""
        return self._errors

    @property
    def status(self) -> str:
        """What goes on, or is waited for."""
        return self._status.text()

    def begin(self) -> None:
        """The user lets the page ask the Hub, now and from now on."""
        self._services.settings.change(discover_opened=True)
        self._show_body()
        self._filters.search.setFocus()  # the button that had the focus is gone
        self._begin()

    def entered(self) -> None:
        self._show_body()
        self._pane.take_over()
        if self._services.settings.value.discover_opened:
            self._begin()
            self._filters.search.setFocus()
        else:
            self._entry.button.setFocus()
        self._clock.start()
        self._refresh()

    def left(self) -> None:
        self._draw_later.stop()
        self._clock.stop()
        self._filters.quiet()
        self._pane.quiet()
        self._discovery.rest()
        self._services.weighing.quiet()

    def escape(self) -> bool:
        if not self._errors.isHidden():
            self._errors.hide()
        elif self._filters.search.text():
            self._filters.search.clear()
        elif self._pane.machine.is_open:
            self._pane.machine.strip.leave()
        elif self._is_narrow and not self._shows_list:
            self._back_to_list()
        else:
            return False
        return True

    def shut(self) -> None:
        if not self._is_shut:
            self._is_shut = True
            self._leave_settings()
        self._draw_later.stop()
        self._clock.stop()
        self._filters.quiet()
        self._pane.shut()
        self._discovery.stop()
        self._services.weighing.quiet()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_sides()

    @property
    def _is_narrow(self) -> bool:
        return self.width() < self.fontMetrics().height() * _WIDE_EMS

    def _say_entry(self) -> None:
        host = _host(self._services)
        self._entry.say(
            text("Discover asks {host} what there is, and weighs each choice for this machine.", host=host),
            text("Nothing is asked before. Each request is listed on the page Network."),
        )
        self._entry.button.setText(text("Ask {host}", host=host))
        self._entry.button.setAccessibleName(self._entry.button.text())

    def _lay_out(self) -> None:
        self._nothing.setContentsMargins(12, 12, 12, 12)
        self._list_panel = panel(self._nothing, self._list, margin=0)
        self._list_panel.setContentsMargins(1, 4, 1, 4)
        self._left = QWidget()
        left = column(self._list_panel, self._status, owner=self._left, gap=1)
        left.setStretch(0, 1)
        both = row(self._left, self._pane, gap=3)
        both.setStretch(1, 1)
        full = QWidget()
        inner = column(self._filters, self._errors, both, owner=full, gap=3)
        inner.setStretch(2, 1)
        self._body.addWidget(self._entry)
        self._body.addWidget(full)
        column(self._body, owner=self, margin=4)

    def _add_actions(self) -> None:
        action(self, text("Search the Hub"), self._filters.search.setFocus, "Ctrl+F")
        action(self, text("Get or open the chosen model"), self._pane.act, "Ctrl+Return")
        action(self, text("Show or hide the filters"), self._filters.fold, "Ctrl+Shift+F")
        action(self, text("What if: another card, other memory"), self._pane.machine.open, "Ctrl+Shift+W")
        action(self, text("Open the model's page"), self._pane.open_page, "Ctrl+Shift+O")
        action(self, text("Look into the open model again"), self._discovery.renew, "F5")
        action(self, text("Back to the list"), self._back_to_list, "Alt+Left")

    def _connect(self) -> None:
        services = self._services
        self._filters.wish_changed.connect(self._search)
        self._filters.reference_pasted.connect(self._name)
        self._list.chosen_changed.connect(self._open_chosen)
        self._list.entered.connect(self._show_choices)
        self._list.seen_changed.connect(self._soon)
        self._discovery.found.connect(self._found)
        self._discovery.told.connect(self._soon)
        self._discovery.failed.connect(self._failed)
        self._discovery.meant.connect(self._pane.choose)
        self._pane.changed.connect(self._refresh)
        self._pane.back_wanted.connect(self._back_to_list)
        self._pane.failed.connect(self._show_error)
        services.weighing.weighed.connect(self._soon)
        services.weighing.looked.connect(self._soon)
        services.weighing.outdated.connect(self._refresh)
        services.memories.changed.connect(self._refresh)
        services.facts.changed.connect(self._refresh)
        services.downloads.changed.connect(self._soon)
        services.bus.find_wanted.connect(self._find)
        services.bus.library_changed.connect(self._discovery.library_changed)
        services.bus.account_changed.connect(self._discovery.account_changed)
        self._endpoint = services.access.endpoint()
        self._leave_settings = services.settings.subscribe(lambda _value: self._settings_changed())

    def _begin(self) -> None:
        """The first view, once."""
        if not self._is_begun:
            self._is_begun = True
            self._filters.look()

    def _find(self, query: Query) -> None:
        """What another page wants to be looked for; where the Hub may not be asked yet, it waits for that."""
        self._is_begun = self._services.settings.value.discover_opened
        self._filters.ask_for(query)

    def _settings_changed(self) -> None:
        """Of the settings, only the Hub's address changes what is true."""
        endpoint = self._services.access.endpoint()
        if endpoint != self._endpoint:
            self._endpoint, self._is_begun = endpoint, False
            self._discovery.forget()
            self._say_entry()

    def _search(self) -> None:
        """What was typed: words, or what names one model, which only Enter, or pasting it, means."""
        self._errors.hide()
        self._again_at_s, self._named = 0.0, ""
        if self._services.settings.value.discover_opened:
            self._discovery.search(self._filters.wish)
            self._list.choose("")
            self._show_list()

    def _name(self, words: str) -> None:
        """Open what `words` name; where they name nothing, look for them."""
        try:
            reference = pasted(words, HOSTS | {_host(self._services)})
        except WeighbridgeError as error:
            self._show_error(error)
            return
        if reference is None:
            self._search()
        else:
            self._named = words
            self._open_reference(reference)

    def _open_reference(self, reference: Reference) -> None:
        self._errors.hide()
        self._filters.quiet()
        self._list.choose("")
        self._discovery.name(reference)
        self._pane.begin()
        self._show_choices()

    def _open_chosen(self) -> None:
        key = self._list.chosen
        if key and key != self._discovery.key:
            self._discovery.open(key)
            self._pane.begin()

    def _show_choices(self) -> None:
        self._shows_list = False
        self._show_sides()

    def _show_list(self) -> None:
        self._shows_list = True
        self._show_sides()

    def _back_to_list(self) -> None:
        self._show_list()
        if self._is_narrow:
            self._list.setFocus()

    def _show_body(self) -> None:
        self._body.setCurrentIndex(1 if self._services.settings.value.discover_opened else 0)

    def _show_sides(self) -> None:
        """The list goes first where there is no room for both."""
        narrow = self._is_narrow
        self._left.setVisible(not narrow or self._shows_list)
        self._pane.setVisible(not narrow or not self._shows_list)
        self._pane.back.setVisible(narrow)
        em = self.fontMetrics().height()
        self._left.setMaximumWidth(em * (200 if narrow else _LIST_EMS))
        self._left.setMinimumWidth(0 if narrow else em * _LIST_EMS)

    def _found(self) -> None:
        self._list.verticalScrollBar().setValue(0)
        self._soon()

    def _failed(self, error: BaseException) -> None:
        wait_s = asked_wait_s(error)
        if wait_s is not None:
            self._again_at_s = time.monotonic() + wait_s
        self._show_error(error)
        self._soon()

    def _show_error(self, error: BaseException) -> None:
        self._errors.show_error(error, remedies(error, self._services, self._try_again))

    def _try_again(self) -> None:
        self._errors.hide()
        self._again_at_s = 0.0
        if self._named:
            self._name(self._named)
        else:
            self._search()

    def _soon(self) -> None:
        if self.isVisible() and not self._is_shut and not self._draw_later.isActive():
            self._draw_later.start()

    def _refresh(self) -> None:
        """What figures depend on is another."""
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        """Weigh what is known, what is in sight first, and show it."""
        if self._is_shut or not self.isVisible() or self._body.currentIndex() == 0:
            return
        self._draw_later.stop()
        self._weigh()
        self._draw_list()
        self._pane.draw()
        self._pane.see()
        self._discovery.count(self._list.seen if self._left.isVisible() else ())
        self._say_status()

    def _weigh(self) -> None:
        models = {model.id: model for key, _group in self._discovery.groups for model in self._discovery.models(key)}
        models |= {model.id: model for model in self._pane.models()}
        self._services.weighing.refresh(tuple(models.values()), self._pane.seen())

    def _draw_list(self) -> None:
        discovery, choice_of = self._discovery, self._services.weighing.choice
        standing = {}
        for key, _group in discovery.groups:
            models = discovery.models(key)
            stands = counted(models, choice_of)
            formats, is_all, failed = len(discovery.formats(key)), discovery.is_all(key), discovery.has_failed(key)
            standing[key] = Standing(stands, len(models), formats, is_all, failed)
        suggested = time.time() if self._filters.wish.is_plain else None
        rows = group_rows(discovery.groups, standing, discovery.looks.now, suggested)
        if discovery.key:  # what is offered stays in its place under the hand of who has chosen already
            rows = in_order_of(rows, [row.key for row in self._list.rows])
        self._list.show_rows(rows)
        self._list.setVisible(bool(rows))
        self._nothing.setVisible(not rows)
        self._nothing.setText(self._nothing_in_words())

    def _nothing_in_words(self) -> str:
        if self._discovery.is_searching:
            return text("Asking the Hub…")
        if not self._errors.isHidden():
            return text("The list comes as soon as the Hub can be asked.")
        return text("Nothing was found. Try other words, or fewer filters.")

    def _tick(self) -> None:
        """What counts down; a search that had to wait goes on by itself."""
        if self._again_at_s and time.monotonic() >= self._again_at_s:
            self._try_again()
        self._say_status()

    def _say_status(self) -> None:
        self._status.setText(self._status_in_words())

    def _status_in_words(self) -> str:
        looks = self._discovery.looks
        wait_s = max(looks.wait_s, self._again_at_s - time.monotonic() if self._again_at_s else 0.0)
        if wait_s > 0:
            seconds = int(wait_s) + 1
            return plural(
                "The Hub asks to wait {count} second.",
                "The Hub asks to wait {count} seconds.",
                seconds,
                count=number(seconds),
            )
        if looks.is_short:
            return text("The Hub allows few more calls just now: no more is counted until it does.")
        if looks.now:
            return text("Looking into {name}…", name=looks.now.partition("@")[0])
        count, allowed = len(self._discovery.groups), self._services.hub.allowances.of()
        said = [plural("{count} model", "{count} models", count, count=number(count))] if count else []
        if allowed is not None:
            left = allowed.remaining
            said.append(plural("{count} call left", "{count} calls left", left, count=number(left)))
        return " · ".join(said)


def _host(services: Services) -> str:
    """The Hub's name; where what is set is no address, what is set."""
    try:
        return services.access.origin().host
    except WeighbridgeError:
        return services.access.endpoint()
