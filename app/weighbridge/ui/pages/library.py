"""The Library: what is on the disk, what it needs, and loading it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from weighbridge.base.errors import Cancelled, WeighbridgeError
from weighbridge.base.settings import Settings
from weighbridge.base.words import text
from weighbridge.library.model import Model
from weighbridge.running.state import State
from weighbridge.ui.adding import Adding
from weighbridge.ui.fixing import Fixing
from weighbridge.ui.in_turns import InTurns
from weighbridge.ui.library_filters import keeping
from weighbridge.ui.library_rows import LibraryRows, Listed
from weighbridge.ui.longest import longest_stated
from weighbridge.ui.measuring import Measuring
from weighbridge.ui.pages.library_acts import ChosenActs
from weighbridge.ui.pages.library_detail import LibraryDetail
from weighbridge.ui.pages.library_doubles import Doubles
from weighbridge.ui.pages.library_foot import LibraryFoot
from weighbridge.ui.pages.library_head import LibraryHead
from weighbridge.ui.pages.library_loads import ChosenLoads
from weighbridge.ui.pages.library_parts import PartsChooser
from weighbridge.ui.pages.library_preset import preset_in_words
from weighbridge.ui.pages.library_shelf import Shelf
from weighbridge.ui.pages.library_stock import PARTS, Stock
from weighbridge.ui.pages.library_table import LibraryTable
from weighbridge.ui.pages.library_templates import Templates
from weighbridge.ui.pages.page import Page
from weighbridge.ui.room import Room
from weighbridge.ui.scanning import Scanning
from weighbridge.ui.served import address_of
from weighbridge.ui.services import Services
from weighbridge.ui.showing import Showing
from weighbridge.ui.starter_fetch import StarterFetch
from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.chips import Chip, Chips
from weighbridge.ui.widgets.empty_state import EmptyState
from weighbridge.ui.widgets.error_panel import ErrorPanel, report_of_causes
from weighbridge.ui.widgets.fitted_area import LEAST_LINES
from weighbridge.ui.widgets.machine_chooser import MachineChooser
from weighbridge.ui.widgets.parts import action, column, panel
from weighbridge.ui.widgets.progress_panel import ProgressPanel
from weighbridge.ui.widgets.question import Question
from weighbridge.ui.widgets.what_if import WhatIfBar
from weighbridge_engines.api import Cause

_LEARNT_AT_ONCE = 200
_HEADERS_MS = 500
"""How long headers that were read gather before they are shown."""
_LOWEST_EMS, _LOW_EMS, _CHIPS_EMS = 22, 34, 48
"""A page that is lower than so many lines of text is low: a small window with large fonts. Chips need some more."""
_LEAST_ROWS = 2
_KEPT = {
    (False, False): (4, LEAST_LINES),
    (False, True): (2, LEAST_LINES),
    (True, False): (4, 2),
    (True, True): (1, 2),
}
"""Rows of the table and lines of the detail that stay in sight, where the page is low and where the strip is open."""


class LibraryPage(Page):
    """Shows `services.library`; asks `services.supervisor` to load and stop. Scans when it is made."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._scanning = Scanning(services, self)
        self._measuring = Measuring(services, self)
        self._measuring.failed.connect(self._not_measured)
        self._is_shut = False
        self._off_list = len(services.library.off_list)
        self._longest: int | None = None
        self._is_new = False
        self._table = LibraryTable(services.theme)
        self._table.explain_speed_by(services.weighing.speed_basis)
        self._controls = WhatIfBar(Settings().context)
        self._controls.apply(services.weighing.what_if, services.settings.value.context)
        self._machine = MachineChooser(services, self)
        self._errors = ErrorPanel(services.theme)
        self._loads = ChosenLoads(services, self._table, self._errors)
        self._fixing = Fixing(services)
        self._progress = ProgressPanel()
        self._starter = StarterFetch(services, self._progress)
        self._detail = LibraryDetail(services.theme)
        self._detail.weighed.speed.show_wanted(services.weighing.wanted_tps)
        self._empty = EmptyState("", text("Get the starter model (98 MB)"), self.fetch_starter)
        self._room = Room(services, self)
        self._rows = LibraryRows(services, self)
        self._chips = Chips(text("Filter"))
        self._head = LibraryHead(services.theme, self._chips.menu_button, self._machine.opener)
        self._search, self._rescan = self._head.search, self._head.rescan
        self._question = Question()
        self._work = ProgressPanel()
        self._shelf = Shelf(services, self._question, self._work, self)
        self._adding = Adding(services, self._question, self)
        self._foot = LibraryFoot(services.theme, PARTS)
        self._templates = Templates(services, self._detail.template, self)
        self._acts = ChosenActs(services, self, self._table, self._loads, self._shelf, self._detail)
        self._parts = PartsChooser(services, self._detail.parts, self._acts.beside, self)
        self._doubles = Doubles(services, self._foot, self._work, self)
        self._stock = Stock(services, self._rows, self._foot, self._shelf, self)
        self._showing = Showing(services, self._table, self._show_unfiltered)
        self._steps = InTurns(self)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_HEADERS_MS)
        self._body = QStackedWidget()
        self._lay_out()
        services.theme.dress(self)
        self._add_actions()
        self._connect()
        self._list()
        self.rescan()

    @property
    def table(self) -> LibraryTable:
        """The table."""
        return self._table

    @property
    def table_top_px(self) -> int:
        """How far below the top of the page the table stands."""
        return self._table_panel.mapTo(self, QPoint()).y()

    @property
    def detail(self) -> LibraryDetail:
        """The panel of the chosen model."""
        return self._detail

    @property
    def controls(self) -> WhatIfBar:
        """How models would be loaded."""
        return self._controls

    @property
    def machine(self) -> MachineChooser:
        """Which machine models are weighed for."""
        return self._machine

    @property
    def empty(self) -> EmptyState:
        """What stands there while no model is."""
        return self._empty

    @property
    def chips(self) -> Chips:
        """By what the table is narrowed."""
        return self._chips

    @property
    def foot(self) -> LibraryFoot:
        """What is said of folders, and of what is not in the table."""
        return self._foot

    @property
    def question(self) -> Question:
        """What is asked, or can be undone."""
        return self._question

    @property
    def shelf(self) -> Shelf:
        """Who acts on files."""
        return self._shelf

    @property
    def loads(self) -> ChosenLoads:
        """Who loads and stops the chosen model."""
        return self._loads

    @property
    def acts(self) -> ChosenActs:
        """What can be done with the chosen model."""
        return self._acts

    @property
    def errors(self) -> ErrorPanel:
        """The page's errors."""
        return self._errors

    @property
    def busy(self) -> bool:
        return self._steps.waiting or self._services.weighing.pacing

    def entered(self) -> None:
        services = self._services
        self._controls.show_settings(services.weighing.what_if, services.settings.value.context)
        self._detail.weighed.speed.show_wanted(services.weighing.wanted_tps)
        self._machine.take_over()
        self._table.show_context(services.settings.value.context)
        self._steps.ask(self._weigh_known, self._show_chosen)
        self._detail.wake()
        self._table.setFocus()

    def left(self) -> None:
        self._detail.quiet()
        self._services.weighing.quiet()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def escape(self) -> bool:
        chosen = self._table.chosen
        if self._search.text():
            self._search.clear()
        elif self._foot.open_part:
            self._foot.close_panel()
        elif not self._question.isHidden():
            self._question.hide()
        elif self._starter.running:
            self._starter.cancel()
        elif self._at_work is not None:
            self._at_work.cancel()
        elif chosen is not None and chosen.running is not None and chosen.running.state is State.LOADING:
            self._loads.stop()
        elif not self._errors.isHidden():
            self._errors.hide()
        elif self._machine.is_open:
            self._machine.strip.leave()
        else:
            return False
        return True

    @property
    def _at_work(self) -> Shelf | Doubles | Adding | None:
        """What goes on and can be given up."""
        return next((each for each in (self._shelf, self._doubles, self._adding) if each.busy), None)

    def shut(self) -> None:
        self._is_shut = True
        self._steps.forget()
        self._later.stop()
        self._scanning.cancel()
        self._adding.cancel()
        self._starter.cancel()
        self._progress.finish()
        self._shelf.cancel()
        self._doubles.cancel()
        self._parts.quiet()
        self._templates.quiet()
        self._work.finish()
        self._rows.close()
        self._detail.quiet()
        self._services.weighing.quiet()

    def rescan(self) -> None:
        """Look at the folders again."""
        self._rescan.setEnabled(False)
        self._scanning.start()
        self._show_body()

    def fetch_starter(self) -> None:
        """Get the starter model into the models folder."""
        self._errors.hide()
        self._empty.button.setEnabled(False)
        self._starter.start()

    def measure(self) -> None:
        """Measure how fast the memory of this machine is."""
        if self._measuring.measure():
            self._errors.hide()

    def _lay_out(self) -> None:
        self._table_panel = panel(self._table, margin=0)
        self._table_panel.setContentsMargins(1, 1, 1, 1)
        full = QWidget()
        above = (self._machine.strip, self._controls, self._chips)
        inner = column(*above, self._table_panel, self._detail, self._foot.panel, None, owner=full, gap=3)
        inner.setStretch(len(above), 1000)
        self._body.addWidget(full)
        self._body.addWidget(self._empty)
        for panel_above in (self._question, self._errors):
            panel_above.turned.connect(self._share_room)
        told = (self._question, self._errors, self._progress, self._work)
        whole = column(self._head, *told, self._body, self._foot, owner=self, margin=4, gap=3)
        whole.setStretch(1 + len(told), 1)

    def _add_actions(self) -> None:
        action(self, text("What if: another card, other memory"), self._machine.open, "Ctrl+Shift+W")
        menu = self._head.add.menu()
        menu.addAction(action(self, text("Add files…"), self._adding.choose_files, "Ctrl+O"))
        menu.addAction(action(self, text("Add a folder…"), self._adding.choose_folder, "Ctrl+Shift+O"))
        action(self, text("Rescan the Library"), self.rescan, "F5")
        action(self, text("Search the Library"), self._search.setFocus, "Ctrl+F")
        action(self, text("Get the starter model"), self.fetch_starter, "Ctrl+Shift+G")

    def _connect(self) -> None:
        self._chips.changed.connect(self._filter)
        self._rows.listed.connect(self._show_listed)
        self._rows.renewed.connect(self._table.renew_rows)
        self._rows.measured.connect(self._measured)
        self._foot.opened.connect(self._share_room)
        self._rows.marked.connect(self._marked)
        self._shelf.failed.connect(self._errors.show_error)
        self._shelf.verified.connect(self._verified)
        self._parts.failed.connect(self._errors.show_error)
        self._doubles.failed.connect(self._errors.show_error)
        self._detail.note_written.connect(self._shelf.note)
        self._search.textChanged.connect(self._table.search)
        self._rescan.clicked.connect(lambda _checked: self.rescan())
        self._scanning.scanned.connect(self._scanned)
        self._scanning.failed.connect(self._scan_failed)
        self._adding.refused.connect(self._refused)
        self._table.chosen_changed.connect(self._show_chosen)
        self._table.chosen_told.connect(lambda: self._steps.ask(self._show_chosen))
        self._table.entered.connect(self._enter)
        self._table.menu_wanted.connect(self._acts.show_menu)
        self._detail.load_wanted.connect(self._loads.load)
        self._fixing.serve(self._detail.failure, self._acts.verify.trigger)
        self._detail.settings_wanted.connect(self._loads.set_load)
        self._detail.stop_wanted.connect(self._loads.stop)
        self._detail.pin_wanted.connect(self._loads.pin)
        self._room.changed.connect(lambda: self._detail.show_ends(self._room.words))
        self._detail.chat_wanted.connect(self._loads.chat)
        self._starter.done.connect(self._starter_done)
        self._starter.failed.connect(self._starter_failed)
        services = self._services
        services.bus.add_wanted.connect(self._adding.add)
        services.bus.scan_wanted.connect(self.rescan)
        services.bus.running_changed.connect(self._running_changed)
        services.bus.header_read.connect(self._gather)
        services.memories.changed.connect(self._machine_seen)
        services.facts.changed.connect(self._learnt)
        services.weighing.outdated.connect(self._weigh)
        services.weighing.weighed.connect(self._weighed)
        services.weighing.looked.connect(self._looked)
        self._later.timeout.connect(lambda: self._steps.ask(self._show_learnt))
        self._controls.context_chosen.connect(self._context_chosen)
        self._controls.changed.connect(self._what_if_chosen)
        self._machine.changed.connect(self._show_known)
        self._machine.opened.connect(self._show_body)
        advice = self._detail.weighed.advice
        advice.settings_wanted.connect(self._controls.apply)
        advice.model_wanted.connect(self._table.choose)
        advice.build_wanted.connect(self._services.bus.build_wanted)
        self._detail.weighed.speed.speed_wanted.connect(self._speed_wanted)
        self._detail.measure_wanted.connect(self.measure)

    def _enter(self) -> None:
        chosen = self._table.chosen
        if chosen is None:
            return
        ready = chosen.running is not None and chosen.running.state is State.READY
        (self._loads.chat if ready else self._loads.load)()

    def _context_chosen(self, context: int) -> None:
        self._services.settings.change(context=context)
        self._services.supervisor.use_context(context)
        self._table.show_context(context)
        self._show_known()

    def _what_if_chosen(self, what_if: WhatIf) -> None:
        self._services.weighing.use(what_if)
        self._show_known()

    def _scanned(self) -> None:
        self._is_new = True
        self._list()

    def _list(self) -> None:
        """Put a row for each listed model into the table."""
        if not self._is_shut:
            self._rows.list_all(self._table.view)

    def _show_listed(self, listed: Listed) -> None:
        """In pieces, each between two events: there may be thousands of models, and who hears looks at them, too."""
        self._longest = listed.longest
        self._table.show_context(self._services.settings.value.context)
        self._table.show_arranged(listed.arranged)
        chosen = self._chips.chosen
        self._chips.show_chips([Chip(*each) for each in listed.filters])
        if self._chips.chosen != chosen:
            self._filter()
        self._show_body()
        self._rescan.setEnabled(not self._scanning.running)
        self._controls.show_cards(self._services.weighing.has_cards)
        # Once rows are laid out, as many are weighed as are in sight.
        steps: list[Callable[[], object]] = [self._weigh, self._show_chosen, self._stock.show]
        if self._is_new:
            self._is_new = False
            steps += [self._doubles.show, self._rows.measure, self._services.bus.library_changed.emit]
        self._steps.ask(*steps)

    def _show_learnt(self) -> None:
        """More was read of some models: so many are shown at a turn."""
        rows = self._rows.learnt(_LEARNT_AT_ONCE)
        if rows and not self._is_shut:
            self._table.renew_rows(rows)
            self._steps.ask(self._weigh, self._show_learnt)

    def _gather(self) -> None:
        if not self._later.isActive():  # started anew by each, it would wait for the last of thousands
            self._later.start()

    def _scan_failed(self, error: BaseException) -> None:
        self._rescan.setEnabled(not self._scanning.running)
        self._show_body()
        if not isinstance(error, Cancelled):
            self._errors.show_error(error, ((text("Rescan"), self.rescan),))

    def _refused(self, errors: Sequence[WeighbridgeError]) -> None:
        """What was not added, and why."""
        if len(errors) == 1:
            self._errors.show_error(errors[0])
        else:
            self._errors.show_report(report_of_causes([Cause(error.code, error.values) for error in errors]))

    def _show_unfiltered(self) -> None:
        self._search.clear()
        self._chips.clear()

    def _starter_done(self) -> None:
        self._empty.button.setEnabled(True)
        self.rescan()

    def _starter_failed(self, error: BaseException) -> None:
        self._empty.button.setEnabled(True)
        if not isinstance(error, Cancelled):
            self._errors.show_error(error, ((text("Try again"), self.fetch_starter),))

    def _show_known(self) -> None:
        """Show what is known of the models that are listed, as things stand now."""
        if not self._is_shut:
            self._weigh_known()
            self._show_chosen()

    def _weigh_known(self) -> None:
        self._controls.show_cards(self._services.weighing.has_cards)
        self._weigh()
        self._show_body()

    def _running_changed(self) -> None:
        if not self._is_shut:  # engines that end tell so, too
            self._table.renew_rows(self._rows.started_or_stopped())
            self._show_known()

    def _filter(self) -> None:
        """Narrow the table to what the chips say."""
        self._table.keep(keeping(self._chips.chosen))
        self._show_body()

    def _marked(self) -> None:
        """Something was written on a model; it may be off the list now, or on it again."""
        off_list = len(self._services.library.off_list)
        self._is_new = self._is_new or off_list != self._off_list
        self._off_list = off_list
        self._list()

    def _measured(self) -> None:
        self._table.tell_disk()
        self._stock.show()

    def _verified(self, model: Model, words: str) -> None:
        chosen = self._table.chosen
        if chosen is not None and chosen.model.id == model.id:
            self._detail.tell(words)

    def _machine_seen(self) -> None:
        """What engines can use decides on every verdict, so they are asked as soon as it is known what there is."""
        machine = self._services.memories.machine
        if machine is not None:
            self._services.facts.ask_engines(machine)
        self._steps.ask(self._weigh)

    def _learnt(self) -> None:
        """What engines told, or was measured, comes with the next sample; how measuring goes is shown now."""
        self._detail.weighed.speed.show_measuring(self._services.facts.measuring)
        self._services.memories.sample()
        self._steps.ask(self._weigh)

    def _not_measured(self, error: BaseException) -> None:
        self._errors.show_error(error, ((text("Try again"), self.measure),))

    def _speed_wanted(self, tps: float | None) -> None:
        self._services.weighing.want(tps)
        self._show_chosen()

    def _weigh(self) -> None:
        """What is in sight at once, the rest as time allows."""
        if not self.isVisible():
            return
        seen = [row.model for row in self._table.seen]
        chosen = self._table.chosen
        self._services.weighing.refresh(self._services.library.models, [*seen, *([chosen.model] if chosen else [])])

    def _looked(self, model_id: str) -> None:
        self._weighed((model_id,))

    def _weighed(self, ids: Sequence[str]) -> None:
        self._table.update_rows(self._rows.some(ids))

    def _show_body(self) -> None:
        self._body.setCurrentIndex(0 if self._services.library.models else 1)
        self._table_panel.setMaximumHeight(self._table.whole_height + 4)
        self._share_room()
        sentence = text("Looking for models…") if self._scanning.running else text("There is no model here yet.")
        self._empty.say(sentence, self._stock.looked)
        self._empty.button.setVisible(not self._scanning.running)

    def _share_room(self) -> None:
        """What stays in sight where there is little room: filters go into a menu, an open panel takes the detail's."""
        told = [panel for panel in (self._question, self._errors) if not panel.isHidden()]
        left = self.height() - sum(panel.heightForWidth(self.width()) for panel in told)
        lines, is_open = left / self.fontMetrics().height(), self._machine.is_open
        low, panel_open = lines < _LOW_EMS, bool(self._foot.open_part)
        rows, kept = _KEPT[low, is_open]
        rows = min(rows, _LEAST_ROWS) if lines < _LOWEST_EMS else rows
        self._detail.keep_lines(kept)
        self._foot.panel.keep_lines(kept)
        self._table_panel.setMinimumHeight(self._table.height_of(rows) + 4)
        there = bool(self._services.library.models)
        self._foot.setVisible(there and not (low and (is_open or told)))
        in_menu = lines < _CHIPS_EMS
        self._chips.setVisible(not in_menu)
        self._chips.menu_button.setVisible(there and in_menu)
        self._detail.setVisible(self._table.chosen is not None and not panel_open)

    def _show_chosen(self) -> None:
        self._steps.drop(self._show_chosen)
        chosen = self._table.chosen
        self._controls.show_longest(longest_stated(chosen.model if chosen else None, self._longest))
        self._detail.setVisible(chosen is not None and not self._foot.open_part)
        if chosen is not None:
            weighing = self._services.weighing
            view, elsewhere = weighing.speed_view(chosen.choice), weighing.other is not None
            address = address_of(self._services, chosen.model)
            closely = weighing.closely(chosen.model)
            self._detail.show_row(chosen, closely, view, elsewhere=elsewhere, address=address)
            self._fixing.look(self._detail.failure, chosen.model, chosen.running)
            if self.isVisible():
                self._templates.show(chosen)
            self._parts.show(chosen)
            self._detail.show_preset(preset_in_words(self._services, chosen.model))
            weighing.look_closely(chosen.model if chosen.model.remote is None else None)
        self._acts.show(chosen)
        may_load = chosen is not None and self._acts.load.isEnabled() and self.isVisible()
        self._ask_room(chosen.model if chosen is not None and may_load else None)

    def _ask_room(self, model: Model | None) -> None:
        """What loading `model` would end."""
        self._room.ask(model, None if model is None else self._services.weighing.load_to_make(model))
        self._detail.show_ends(self._room.words)
