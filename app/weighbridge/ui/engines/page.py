"""The page Engines: a card for each engine with its builds, and above them what the machine has and nothing uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QScrollArea, QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.explain import explain_code
from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.ui.clipboard import copy
from weighbridge.ui.endpoints.row import EndpointRow
from weighbridge.ui.endpoints.section import EndpointsSection
from weighbridge.ui.engines.banner import Banner, Banners
from weighbridge.ui.engines.build_row import FETCHING, INSTALLING, BuildRow, Remedies
from weighbridge.ui.engines.card import EngineCard
from weighbridge.ui.engines.hints import hints
from weighbridge.ui.engines.installation import Said
from weighbridge.ui.engines.looks import Act, BuildLook, Known, looks
from weighbridge.ui.engines.sections import Sections
from weighbridge.ui.folders import short
from weighbridge.ui.pages.page import Page
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.parts import action, button, column, label, row, selectable
from weighbridge.ui.widgets.question import Question

_TICK_MS = 200


class EnginesPage(Page):
    """Drives `services.builds`; draws only while it is in sight."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._builds = services.builds
        self._acts = self._made_acts()
        self._cards: dict[str, EngineCard] = {}
        self._banners = Banners(services.theme)
        self._wanted_id = self._wanted_endpoint = ""
        self._wants_form = False
        self._machine_known = False
        self._told = ""
        self._shown_error: BaseException | None = None
        self._add = button(text("Add a program…"), self.choose_program)
        self._again = button(text("Look again"), self._builds.look)
        self._looking = label(text("Looking for engines…"), "dim")
        self._offline = label("", "dim", wrap=True)
        self._problems = selectable(label("", "warning", wrap=True))
        self._question = Question()
        self._errors = ErrorPanel(services.theme)
        self._endpoints = EndpointsSection(services.theme, services.endpoints)
        self._sections = Sections(services.theme, self._endpoints)
        self._lay_out()
        services.theme.dress(self)
        self._add_actions()
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._connect()

    @property
    def cards(self) -> dict[str, EngineCard]:
        """The cards by the ids of their engines."""
        return dict(self._cards)

    @property
    def sections(self) -> Sections:
        """What holds them."""
        return self._sections

    @property
    def endpoints(self) -> EndpointsSection:
        """The servers that someone else runs."""
        return self._endpoints

    @property
    def rows(self) -> dict[str, BuildRow]:
        """The rows of all cards, by the ids of their builds."""
        return {build_id: made for card in self._cards.values() for build_id, made in card.rows.items()}

    @property
    def banners(self) -> list[Banner]:
        """What stands above them."""
        return self._banners.shown

    @property
    def question(self) -> Question:
        """What is asked, or told with something that takes it back."""
        return self._question

    @property
    def errors(self) -> ErrorPanel:
        """What went wrong and belongs to no build."""
        return self._errors

    @property
    def offline_note(self) -> str:
        """What is said of being offline; "" where that is not so."""
        return self._offline.text()

    @property
    def problems(self) -> str:
        """What is wrong with engines that the user has described, a line each."""
        return self._problems.text()

    def entered(self) -> None:
        self._builds.look()
        self._endpoints.show_all()
        self._show()
        self._add.setFocus()

    def left(self) -> None:
        self._timer.stop()

    def event(self, event: QEvent) -> bool:
        """Who comes back from a terminal may have installed or removed something there."""
        if event.type() is QEvent.Type.WindowActivate and self.isVisible():
            self._builds.look()
        return super().event(event)

    def escape(self) -> bool:
        for each in (self._question, self._errors):
            if not each.isHidden():
                each.hide()
                return True
        return self._endpoints.escape()

    def shut(self) -> None:
        self._timer.stop()
        self._leave()

    def choose_program(self) -> None:
        """Let the user choose a server program, and take it in."""
        chosen, _ = QFileDialog.getOpenFileName(self, text("Add a server program"))
        if chosen:
            self._builds.add(Path(chosen))

    def choose_own(self, engine_id: str) -> None:
        """Let the user show where his own copy of an engine is: its program, or the folder that holds its script."""
        engine = self._builds.engines.catalogue[engine_id]
        title = text("Where is {engine}?", engine=engine.title)
        if "." in engine.known_as:
            chosen = QFileDialog.getExistingDirectory(self, title)
        else:
            chosen, _ = QFileDialog.getOpenFileName(self, title)
        if chosen:
            self._builds.add(Path(chosen), engine_id)

    def show_build(self, build_id: str) -> None:
        """Have a build in sight, or, by the id of an engine, the first of its builds; now or once it is there."""
        self._wanted_id = build_id
        self._find_wanted()

    def show_endpoint(self, endpoint_id: str) -> None:
        """Have an endpoint in sight; now or once the cards stand that come before it."""
        self._wanted_endpoint = endpoint_id
        self._find_endpoint()

    def do(self, act: Act, build_id: str) -> None:
        """Do what is asked with a build."""
        self._acts[act](build_id)

    def _made_acts(self) -> Mapping[Act, Callable[[str], object]]:
        builds = self._builds
        return {
            Act.INSTALL: self._install,
            Act.OWN: self.choose_own,
            Act.NEWER: builds.look_for_newer,
            Act.UPDATE: self._install,
            Act.WHEELS: self._choose_wheels,
            Act.USE: builds.use,
            Act.PROBE: builds.probe,
            Act.LOG: builds.read_log,
            Act.COPY: self._copy,
            Act.REMOVE: self._ask_to_remove,
            Act.FORGET: builds.remove,
        }

    def _install(self, build_id: str) -> None:
        self._builds.install(build_id)
        self.show_build(build_id)

    def _lay_out(self) -> None:
        head = row(label(text("Engines"), "title"), None, self._again, self._add)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        parts = (self._looking, self._banners, self._sections, None)
        inner = column(*parts, owner=scrolled, gap=3)
        inner.setContentsMargins(0, 0, STEP, 0)
        self._area = QScrollArea(widgetResizable=True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(scrolled)
        self._area.setAccessibleName(text("Engines"))
        above = (head, self._offline, self._problems, self._question, self._errors)
        whole = column(*above, self._area, owner=self, margin=4, gap=3)
        whole.setStretch(len(above), 1)

    def _add_actions(self) -> None:
        action(self, text("Add a server program"), self.choose_program, "Ctrl+Shift+A")
        action(self, text("Add a server that someone else runs"), self._endpoints.open)
        action(self, text("Look for engines again"), self._builds.look, "F5")
        action(self, text("Do what is offered for a card that nothing uses"), self._banners.do_first)

    def _connect(self) -> None:
        services = self._services
        self._banners.wanted.connect(self.do)
        self._builds.changed.connect(self._changed)
        self._builds.said.connect(self._tell)
        services.facts.changed.connect(self._changed)
        services.endpoints.changed.connect(self._changed)
        services.memories.changed.connect(self._sampled)
        services.bus.build_wanted.connect(self.show_build)
        services.bus.endpoint_wanted.connect(self._open_form)
        services.bus.endpoint_shown.connect(self.show_endpoint)
        self._leave = services.settings.subscribe(lambda _value: self._changed())

    def _sampled(self) -> None:
        """Once it is known what machine this is, the builds can be asked."""
        machine = self._services.memories.machine
        if machine is None or not self.isVisible():
            return
        self._services.facts.ask_engines(machine)
        if not self._machine_known:
            self._machine_known = True
            self._builds.look()

    def _changed(self) -> None:
        if self.isVisible():
            self._show()

    def _show(self) -> None:
        known = self._known()
        self._looking.setVisible(known is None)
        self._show_offline()
        self._show_problems()
        self._show_errors()
        if known is None:
            return
        machine = self._services.memories.machine
        shown = hints(known, self._builds.engines.offers(), self._services.facts.told, machine)
        self._banners.show_hints(shown, self._why_closed())
        shown_looks = looks(known, machine)
        for look in shown_looks:
            self._card(look.id, look.title).show_look(look, self._show_row)
        self._sections.arrange([(look.standing, self._cards[look.id]) for look in shown_looks])
        self._tick()
        if self._builds.installation is None:
            self._timer.stop()
        elif self.isVisible():
            self._timer.start()
        self._find_wanted()
        self._find_endpoint()
        self._find_form()

    def _known(self) -> Known | None:
        """What is known, with what the builds in use told last."""
        known = self._builds.known
        if known is None:
            return None
        in_use = {build.engine_id: build.id for build in known.builds if build.in_use}
        told = {in_use[one.engine_id]: one for one in self._services.facts.told if one.engine_id in in_use}
        return replace(known, told={**known.told, **told})

    def _card(self, engine_id: str, title: str) -> EngineCard:
        if engine_id not in self._cards:
            self._cards[engine_id] = EngineCard(self._services.theme, title, self._make_row)
        return self._cards[engine_id]

    def _make_row(self, build_id: str, title: str) -> BuildRow:
        made = BuildRow(self._services.theme, build_id, title)
        made.wanted.connect(self.do)
        made.log.fold.unfolded.connect(partial(self._log_folded, build_id))
        return made

    def _show_row(self, made: BuildRow, look: BuildLook) -> None:
        builds, installation = self._builds, self._builds.installation
        busy = installation is not None
        closed = {*(INSTALLING if busy else ()), *(FETCHING if self._is_offline() else ())}
        made.show_look(look, frozenset(closed), self._why_closed())
        error = builds.errors.get(look.id)
        made.show_error(error, self._remedies(error))
        made.show_log(builds.logs.get(look.id))
        own = installation if installation is not None and installation.build_id == look.id else None
        made.show_doing(builds.doing.get(look.id), own)

    def _remedies(self, error: BaseException | None) -> Remedies:
        """A build that cannot be removed because it runs a model of ours: the model can be stopped here."""
        if not isinstance(error, WeighbridgeError) or error.code != "build.in_use_now":
            return ()
        build_id = str(error.values["build"])
        models = [one.model_id for one in self._services.supervisor.running() if one.build == build_id]
        return ((text("Stop the model"), partial(self._stop, build_id, models)),) if models else ()

    def _stop(self, build_id: str, models: Sequence[str]) -> None:
        services = self._services
        for model_id in models:
            ended = services.supervisor.stop(model_id)
            services.background.follow(ended, lambda _: self._builds.forget_error(build_id), services.bus.failed.emit)

    def _show_offline(self) -> None:
        said = text("You are offline, so no build is fetched. Wheels that lie here can be installed.")
        self._offline.setText(said if self._is_offline() else "")
        self._offline.setVisible(self._is_offline())

    def _show_problems(self) -> None:
        """What is wrong with engines that the user has described himself."""
        said = [str(explain_code(cause.code, cause.values)) for cause in self._builds.engines.problems]
        self._problems.setText("\n".join(said))
        self._problems.setVisible(bool(said))

    def _show_errors(self) -> None:
        """Those that belong to no build which is shown."""
        rows = self.rows
        found = next((error for name, error in self._builds.errors.items() if name not in rows), None)
        if found is None:
            self._errors.hide()
        elif found is not self._shown_error:
            self._errors.show_error(found)
        self._shown_error = found

    def _tell(self, said: Said) -> None:
        """Not over a question that was asked: what takes back takes back what was told alone."""
        if said.sentence:
            self._question.ask(said.sentence, said.answers, focus=None)
        elif self._told == self._question.what:
            self._question.hide()
        self._told = said.sentence

    def _is_offline(self) -> bool:
        return self._services.access.offline()

    def _why_closed(self) -> str:
        if self._builds.installation is not None:
            return text("Another build is being installed.")
        return text("You are offline.") if self._is_offline() else ""

    def _tick(self) -> None:
        installation = self._builds.installation
        made = self.rows.get(installation.build_id) if installation is not None else None
        if made is not None:
            made.installing.look()

    def _find_wanted(self) -> None:
        card = self._cards.get(self._wanted_id)
        made = self.rows.get(self._wanted_id) or next(iter(card.rows.values() if card else ()), None)
        if made is None or not self.isVisible():
            return
        for each in self._cards.values():
            each.unfold_for(made.build_id)
            if made.build_id in each.rows:
                self._sections.unfold_for(each)
        self._wanted_id = ""
        QTimer.singleShot(0, made, lambda: self._bring(made))

    def _find_endpoint(self) -> None:
        made = self._endpoints.rows.get(self._wanted_endpoint)
        if made is None or not self._cards or not self.isVisible():
            return
        self._wanted_endpoint = ""
        QTimer.singleShot(0, made, lambda: self._bring_endpoint(made))

    def _open_form(self, preset_id: str) -> None:
        """Have a server added, its form in sight; now or once the cards stand that come before it."""
        self._endpoints.open(preset_id)
        self._wants_form = True
        self._find_form()

    def _find_form(self) -> None:
        if self._wants_form and self._cards and self.isVisible():
            self._wants_form, form = False, self._endpoints.form
            QTimer.singleShot(0, form, lambda: self._area.ensureWidgetVisible(form, 0, 4 * STEP))

    def _bring_endpoint(self, made: EndpointRow) -> None:
        self._area.ensureWidgetVisible(made, 0, 4 * STEP)
        made.look.setFocus()

    def _bring(self, made: BuildRow) -> None:
        self._area.ensureWidgetVisible(made, 0, 4 * STEP)
        for each in (made.installing.cancel, made.first, made.more):
            if each.isVisible():
                each.setFocus()
                return

    def _choose_wheels(self, build_id: str) -> None:
        chosen = QFileDialog.getExistingDirectory(self, text("A folder with the wheels of this build"))
        if chosen:
            self._builds.install(build_id, Path(chosen))

    def _copy(self, build_id: str) -> None:
        known, made = self._known(), self.rows[build_id]
        if known is not None:
            found = looks(known, self._services.memories.machine)
            commands = {one.id: one.command for look in found for one in (*look.builds, *look.others)}
            copy(commands[build_id], made.more)

    def _ask_to_remove(self, build_id: str) -> None:
        build, known = self._builds.engines.build(build_id), self._builds.known
        taken = known.bytes_of.get(build.id) if known is not None else None
        what = text("Remove the {build} build of {engine}?", build=build.title, engine=build.engine_title)
        folder = short(Path(build.place).parent, Path.home())
        told = text("The folder {path} is deleted, which frees {size}.", path=folder, size=size(taken))
        rest = text("Another build is used then.") if build.in_use else ""
        answers = ((text("Remove"), partial(self._builds.remove, build.id)), (text("Keep it"), None))
        self._question.ask(" ".join(filter(None, (what, told, rest))), answers, focus=1)

    def _log_folded(self, build_id: str, is_open: bool) -> None:
        if not is_open:
            self._builds.close_log(build_id)
