"""The right side of Discover: how models would be loaded, the choices of the open model, the chosen one in full."""

from __future__ import annotations

import os
from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain
from weighbridge.base.settings import Settings
from weighbridge.base.units import number, tokens
from weighbridge.base.words import plural, text
from weighbridge.choices.offer_words import recommended_in_words
from weighbridge.choices.recommended import Recommended
from weighbridge.choices.words import parameters_in_words
from weighbridge.formats.model import ModelInfo
from weighbridge.library.model import Model
from weighbridge.ui.close_look import Closely
from weighbridge.ui.discover.detail import ChoiceDetail
from weighbridge.ui.discover.discovery import Discovery
from weighbridge.ui.discover.looks import place_of
from weighbridge.ui.discover.rows import Act, ChoiceRow
from weighbridge.ui.discover.table import ChoicesTable
from weighbridge.ui.discover.weighed_rows import choice_rows, with_best
from weighbridge.ui.hub_parts import job_for
from weighbridge.ui.longest import longest_attended, longest_stated
from weighbridge.ui.measuring import Measuring
from weighbridge.ui.remedies import open_page
from weighbridge.ui.services import Services
from weighbridge.ui.speed_view import SpeedView
from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.machine_chooser import MachineChooser
from weighbridge.ui.widgets.parts import button, column, label, panel, row
from weighbridge.ui.widgets.what_if import WhatIfBar

_REST_MS = 400
"""A row is looked at once it is chosen for so long: its whole header is some MiB."""

_KEPT = ((41, 7, 8), (24, 4, 6), (18, 2, 4), (0, 1, 2))
"""From so many lines of text in height on: rows of the table, and lines of the detail, that stay in sight."""


class ChoicesPane(QWidget):
    """Shows what `discovery` has open. `refresh` weighs and draws it anew; `failed` tells why a job cannot be made."""

    changed = Signal()
    failed = Signal(object)
    back_wanted = Signal()

    def __init__(self, services: Services, discovery: Discovery) -> None:
        super().__init__()
        self._services = services
        self._discovery = discovery
        self._best: Recommended | None = None
        self._card_of = ""
        self._shown: tuple[ChoiceRow, Closely | None, SpeedView, str, bool] | None = None
        self._rests_for: tuple[str, bool, bool] = ("", False, False)
        self._chosen_by_user = False
        self._measuring = Measuring(services, self)
        self._controls = WhatIfBar(Settings().context)
        self._machine = MachineChooser(services, self)
        self._title = label("", "heading")
        self._said = ElidedLabel(at_left=True)
        self._back = button(text("Back to the list"), self.back_wanted.emit)
        self._table = ChoicesTable(services.theme)
        self._table.explain_speed_by(services.weighing.speed_basis)
        self._detail = ChoiceDetail(services.theme, services.background)
        self._none = label("", "dim", wrap=True)
        self._none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._body = QStackedWidget()
        self._rest = QTimer(self, interval=_REST_MS, singleShot=True)
        self._rest.timeout.connect(self._look_closely)
        self._lay_out()
        self._connect()

    @property
    def table(self) -> ChoicesTable:
        """The choices."""
        return self._table

    @property
    def detail(self) -> ChoiceDetail:
        """The chosen one."""
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
    def back(self) -> QPushButton:
        """Leads back to the list, where that has no room beside this."""
        return self._back

    @property
    def said(self) -> str:
        """What is said of the open base model."""
        return self._said.text()

    def take_over(self) -> None:
        """The page is shown: show the settings as they were left on another one."""
        services = self._services
        self._controls.show_settings(services.weighing.what_if, services.settings.value.context)
        self._detail.weighed.speed.show_wanted(services.weighing.wanted_tps)
        self._machine.take_over()

    def quiet(self) -> None:
        """Nothing more is looked at: the page is not shown."""
        self._rest.stop()
        self._rests_for = ("", False, False)

    def begin(self) -> None:
        """Another base model is open: its recommended choice is chosen, until the user chooses."""
        self._chosen_by_user = False
        self._table.choose("")

    def choose(self, key: str) -> None:
        """Choose the row that was meant."""
        self._chosen_by_user = True
        self.draw()
        self._table.choose(key)

    def models(self) -> tuple[Model, ...]:
        """What can be weighed of what is open."""
        return self._discovery.models(self._discovery.key)

    def seen(self) -> list[Model]:
        """What of it is in sight, and the chosen one."""
        chosen = self._table.chosen
        rows = [*self._table.seen, *([chosen] if chosen else [])]
        return [one.offered.model for one in rows if one.weighed is not None and one.offered.model is not None]

    def draw(self) -> None:
        """Show the rows as they are known now."""
        services, discovery = self._services, self._discovery
        offered = discovery.rows(discovery.key)
        jobs = services.downloads.snapshot.jobs
        rows = choice_rows(offered, services.weighing.choice, jobs, discovery.looks.is_waiting, discovery.failure)
        machine = services.weighing.machine
        rows, self._best = with_best(rows, machine.devices if machine else ())
        self._controls.show_cards(services.weighing.has_cards)
        elsewhere = services.weighing.other is not None
        self._table.show_rows(rows, services.settings.value.context, elsewhere=elsewhere)
        self._choose_best(rows)
        self._title.setText(discovery.title)
        self._said.setText(self._state_in_words(rows))
        self._body.setCurrentIndex(1 if rows else 0)
        self._none.setText(self._nothing_in_words())
        self._share_room()
        self._show_chosen()

    def see(self) -> None:
        """Have what is in sight looked into."""
        unseen = [one.offered.spot for one in self._table.seen if one.offered.offer is None]
        self._discovery.see(unseen)

    def act(self) -> None:
        """Do what the button of the chosen row does."""
        chosen = self._table.chosen
        if chosen is None or chosen.act is None:
            return
        bus, offered = self._services.bus, chosen.offered
        if chosen.act is Act.OPEN and offered.here is not None:
            bus.place_wanted.emit(offered.here.path)
        elif chosen.act is Act.FOLLOW:
            bus.page_wanted.emit("downloads")
        elif chosen.act is Act.GET:
            self._get()
        else:
            self._discovery.again(offered.spot)

    def open_page(self) -> None:
        """Show the page of the chosen row in the browser: where its licence can be accepted."""
        chosen = self._table.chosen
        if chosen is not None:
            open_page(f"{self._services.access.endpoint().rstrip('/')}/{chosen.offered.spot.repo_id}")

    def shut(self) -> None:
        """Stop all work: the page goes away."""
        self._rest.stop()
        self._detail.discard()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """There is more or less room than before: for the whole pane, or below the controls and the open strip."""
        if event.type() is QEvent.Type.Resize:
            self._share_room()
        return super().eventFilter(watched, event)

    def _lay_out(self) -> None:
        head = row(self._back, self._title, self._said, gap=3)
        head.setStretch(2, 1)
        self._table_panel = panel(self._table, margin=0)
        self._table_panel.setContentsMargins(1, 1, 1, 1)
        full, empty = QWidget(), QWidget()
        inner = column(head, self._table_panel, self._detail, None, owner=full, gap=3)
        inner.setStretch(1, 1000)
        column(None, self._none, None, owner=empty, margin=6)
        self._body.addWidget(empty)
        self._body.addWidget(full)
        whole = column(self._machine.strip, self._controls, self._body, owner=self, gap=3)
        whole.setStretch(2, 1)
        self._body.installEventFilter(self)

    def _connect(self) -> None:
        self._controls.context_chosen.connect(self._context_chosen)
        self._controls.changed.connect(self._what_if_chosen)
        self._machine.changed.connect(self.changed)
        self._table.chosen_changed.connect(self._show_chosen)
        self._table.act_wanted.connect(self.act)
        self._table.taken.connect(self._user_chose)
        self._table.seen_changed.connect(self.see)
        self._detail.act_wanted.connect(self.act)
        self._detail.page_wanted.connect(self.open_page)
        self._detail.card_wanted.connect(self._read_card)
        self._detail.seeing.toggled.connect(lambda _on: self._show_chosen())
        self._detail.weighed.speed.speed_wanted.connect(self._speed_wanted)
        self._detail.weighed.speed.measure_wanted.connect(self._measuring.measure)
        self._measuring.failed.connect(self.failed)
        self._services.facts.changed.connect(self._learnt)
        self._detail.weighed.advice.settings_wanted.connect(self._controls.apply)
        self._detail.weighed.advice.model_wanted.connect(self._choose_model)
        self._detail.weighed.advice.build_wanted.connect(self._services.bus.build_wanted)

    def _choose_best(self, rows: Iterable[ChoiceRow]) -> None:
        """Until the user chooses, the recommended one is chosen."""
        if self._chosen_by_user or self._table.hasFocus():
            return
        best = next((one.key for one in rows if one.recommended), None)
        chosen = self._table.chosen
        if best is not None and (chosen is None or chosen.key != best):
            self._table.choose(best)

    def _user_chose(self) -> None:
        self._chosen_by_user = True

    def _choose_model(self, model_id: str) -> None:
        rows = self._discovery.rows(self._discovery.key)
        for one in rows:
            if one.model is not None and one.model.id == model_id:
                self._user_chose()
                self._table.choose(one.key)

    def _show_chosen(self) -> None:
        chosen, weighing = self._table.chosen, self._services.weighing
        self._detail.setVisible(chosen is not None)
        if chosen is None:
            return
        model = chosen.offered.model
        self._controls.show_longest(longest_stated(model, longest_attended(self.models())))
        choice = chosen.weighed.choice if chosen.weighed else None
        reason = recommended_in_words(self._best) if chosen.recommended and self._best else ""
        close = weighing.closely(model) if model is not None else None
        shown = chosen, close, weighing.speed_view(choice), reason, self._detail.seeing.isChecked()
        if shown != self._shown:  # drawing it takes more than all else together
            self._shown = shown
            self._detail.show_choice(*shown[:4])
        self._show_header(chosen)
        if chosen.key != self._card_of:
            self._card_of = ""
            self._detail.card_fold.show_open(False)
        self._begin_to_rest(chosen)

    def _begin_to_rest(self, chosen: ChoiceRow) -> None:
        """Look at it in a moment, unless that was done; what is drawn anew does not begin to rest anew."""
        known = chosen.offered.model is not None and self._services.weighing.closely(chosen.offered.model) is not None
        wanted = chosen.key, self._discovery.is_read(chosen.offered), known
        if self.isVisible() and wanted != self._rests_for:
            self._rests_for = wanted
            self._rest.start()

    def _show_header(self, chosen: ChoiceRow) -> None:
        """What the whole header tells, or why it could not be read."""
        whole = self._discovery.whole(chosen.offered)
        reads, error = self._discovery.reading(chosen.offered)
        sight = self._discovery.looks.sights.get(place_of(chosen.offered.spot))
        error = error or (sight.unread if sight is not None and chosen.offered.offer is not None else None)
        said = text("Reading the whole header…") if reads else ""
        if error is not None and not reads:
            said = str(explain(error)) if isinstance(error, WeighbridgeError) else str(error)
        self._detail.show_note(said)
        template = whole.chat_template if whole is not None else None
        self._detail.template.show_template(template, chosen.owner)

    def _look_closely(self) -> None:
        """The chosen row has been chosen for a moment."""
        chosen = self._table.chosen
        if chosen is None or not self.isVisible():
            return
        self._discovery.read_whole(chosen.offered)
        whole, model = self._discovery.whole(chosen.offered), chosen.offered.model
        if model is not None:
            self._services.weighing.look_closely(model, whole.heads if whole is not None else ())

    def _read_card(self) -> None:
        chosen = self._table.chosen
        sight = None if chosen is None else self._discovery.looks.sights.get(place_of(chosen.offered.spot))
        if chosen is None or sight is None or self._card_of == chosen.key:
            return
        self._card_of = chosen.key
        self._detail.card.wait()
        self._discovery.read_card(sight.repository, self._detail.show_card, self._detail.card.show_error)

    def _get(self) -> None:
        services, wanted = self._services, self._detail.wanted
        if wanted is None:
            return
        try:
            services.downloads.add(job_for(wanted, services.paths, services.settings.value, os.environ))
        except WeighbridgeError as error:
            self.failed.emit(error)

    def _context_chosen(self, context: int) -> None:
        self._services.settings.change(context=context)
        self._services.supervisor.use_context(context)
        self.changed.emit()

    def _what_if_chosen(self, what_if: WhatIf) -> None:
        self._services.weighing.use(what_if)
        self.changed.emit()

    def _learnt(self) -> None:
        self._detail.weighed.speed.show_measuring(self._services.facts.measuring)

    def _speed_wanted(self, tps: float | None) -> None:
        self._services.weighing.want(tps)
        self._show_chosen()

    def _state_in_words(self, rows: list[ChoiceRow]) -> str:
        """What of it is still being asked; then what is the same of all its choices."""
        if self._discovery.is_opening:
            return text("Asking which repositories have it…")
        if any(one.is_looked_at for one in rows):
            return text("Looking into it…")
        facts = next((facts_in_words(one.info) for one in self.models() if one.info is not None), "")
        return " · ".join(filter(None, (self._left_out_in_words(), facts)))

    def _left_out_in_words(self) -> str:
        count = self._discovery.left_out
        if not count:
            return ""
        said = plural(
            "{count} more choice is not shown", "{count} more choices are not shown", count, count=number(count)
        )
        return text("{left_out}: to see one, paste its address", left_out=said)

    def _nothing_in_words(self) -> str:
        if self._discovery.key:
            return text("Looking into it…") if self._discovery.is_opening else text("There is nothing to fetch of it.")
        return text(
            "Choose a model: every choice there is of it is weighed for this machine, before a byte is fetched."
        )

    def _share_room(self) -> None:
        """What stays in sight where there is little room."""
        ems = self._body.height() / self.fontMetrics().height()
        rows, lines = next((rows, lines) for least, rows, lines in _KEPT if ems >= least)
        self._detail.keep_lines(lines)
        self._table_panel.setMinimumHeight(self._table.height_of(rows) + 4)
        self._table_panel.setMaximumHeight(self._table.whole_height + 4)


def facts_in_words(info: ModelInfo) -> str:
    """ "8.2 B parameters · 36 layers · trained for 40,960 tokens"."""
    said = []
    if (parameters := parameters_in_words(info)) is not None:
        said.append(text("{count} parameters", count=parameters))
    if info.layers is not None:
        said.append(plural("{count} layer", "{count} layers", info.layers, count=number(info.layers)))
    if info.context_length is not None:
        said.append(text("trained for {tokens}", tokens=tokens(info.context_length)))
    return " · ".join(said)
