"""Loading a model with settings: a sheet in the window, over the page from which it was opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from weighbridge.base.errors import Cancelled, WeighbridgeError
from weighbridge.base.words import text
from weighbridge.choices.corrections import planned_load
from weighbridge.choices.finding import will_not_fit
from weighbridge.choices.setting_words import refusal_in_words
from weighbridge.choices.ways import Way, WayKind
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.choose import engine_for, engines_for
from weighbridge.running.load_settings import applied, command_line, settings_of
from weighbridge.running.presets import Preset
from weighbridge.running.state import Running, State
from weighbridge.ui.asking import Asking
from weighbridge.ui.load.cards_head import CardsHead
from weighbridge.ui.load.draft import Draft, groups
from weighbridge.ui.load.looks import threads_warning
from weighbridge.ui.load.preset_bar import PresetBar
from weighbridge.ui.load.preset_keeper import PresetKeeper
from weighbridge.ui.load.reckoner import Reckoner
from weighbridge.ui.load.reckoning import Reckoned
from weighbridge.ui.load.section import Section
from weighbridge.ui.load.summary import Summary
from weighbridge.ui.load.verdict_strip import VerdictStrip
from weighbridge.ui.pages.page import Page
from weighbridge.ui.room import Room
from weighbridge.ui.running_words import running_of
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.parts import action, button, clear, column, give_role, label, panel, row
from weighbridge_engines.api import Cause, Engine, Load

_WIDE_EMS, _ROOMY_EMS, _SUMMARY_EMS, _LEAST_SUMMARY_EMS = 48, 66, 23, 19
_HOLDING = (State.LOADING, State.READY)


class LoadSheet(Page):
    """Shows one model at a time. `closed` is emitted as the user is done with it."""

    closed = Signal()

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._model: Model | None = None
        self._draft: Draft | None = None
        self._reckoned: Reckoned | None = None
        self._wrong: dict[str, Cause] = {}
        self._sections: list[Section] = []
        self._reckoner = Reckoner(services, self)
        self._room = Room(services, self)
        self._asking = Asking(services, self)
        self._title = label("", "title")
        self._presets = PresetBar()
        self._keeper = PresetKeeper(services.presets, self._presets, self._asked, self._left_out, self)
        self._verdict = VerdictStrip(services.theme)
        self._errors = ErrorPanel(services.theme)
        self._note = label("", wrap=True)
        self._summary = Summary(services.theme)
        self._cards = CardsHead(services.theme)
        self._hint = label("", "dim", wrap=True)
        self._hint.setMinimumHeight(2 * self.fontMetrics().lineSpacing())  # so that nothing moves as it says more
        self._once = label(text("For this load only; a preset keeps it."), "dim")
        self._load = button(text("Load"), self.load, "primary")
        self._back = button(text("Reset all"), self.reset)
        self._leave = button(text("Close"), self.closed.emit)
        self._lay_out()
        services.theme.dress(self)
        self._connect()
        action(self, text("Load with these settings"), self.load, "Ctrl+Return")
        action(self, text("Save these settings as a preset…"), self._presets.ask_name, "Ctrl+S")

    @property
    def draft(self) -> Draft | None:
        """The load as it stands."""
        return self._draft

    @property
    def reckoned(self) -> Reckoned | None:
        """What the load comes to; None while that is not known."""
        return self._reckoned

    @property
    def sections(self) -> Mapping[str, Section]:
        """The headings by name."""
        return {each.group.name: each for each in self._sections}

    @property
    def summary(self) -> Summary:
        """What it comes to."""
        return self._summary

    @property
    def verdict(self) -> VerdictStrip:
        """The verdict."""
        return self._verdict

    @property
    def presets(self) -> PresetBar:
        """The presets of the model."""
        return self._presets

    @property
    def cards(self) -> CardsHead:
        """The split over several cards."""
        return self._cards

    @property
    def note(self) -> str:
        """What is said of a preset, or of settings that do not go together."""
        return self._note.text()

    @property
    def load_button(self) -> Any:
        """Loads it."""
        return self._load

    def show_model(self, model: Model, load: Load | None = None) -> None:
        """Show `model`, as it is loaded, else as `load` says, else as it would be loaded by itself."""
        self._model, self._reckoned = model, None
        self._forget()
        self._errors.hide()
        self._say("")
        self._keeper.show_model(model)
        self._title.setText(model.title)
        running = self._running()
        plain = self._services.supervisor.plain_load(model)
        default = self._services.supervisor.default_load(model)
        before = running.load if running is not None else load or default
        try:
            engine = self._engine_of(before)
        except WeighbridgeError as error:
            self._draft = None
            self._errors.show_error(error)
            self._build_sections()
            return
        self._use_engine(Draft(plain, before, before, engine, settings_of(engine, self._able())))
        preset = self._services.presets.default(model)
        if preset is not None and before == default:
            self._keeper.take(preset)
        self._say_refusal()

    def _say_refusal(self) -> None:
        """Why the engine would not follow the load, where that is about nothing that has a field here."""
        refusal = self._draft.refusal if self._draft is not None else None
        named = "" if refusal is None else str(refusal.values.get("name", ""))
        fields = {control.name for each in self._sections for control in each.group.controls}
        if refusal is not None and named not in fields:
            self._say(str(refusal_in_words(refusal)))

    def set_value(self, name: str, value: Any) -> None:
        """Ask for a value; None leaves it to the engine."""
        if self._draft is None or name not in self._draft.known:
            return
        draft = self._draft.with_value(name, value)
        if name in ("engine", "in_process"):
            self._choose_engine(draft)
        else:
            self._use(draft)

    def load(self) -> None:
        """Load it so, and go back. What will not fit is asked about where the sheet has not shown that yet."""
        model, draft = self._model, self._draft
        if model is None or draft is None or not self._load.isEnabled():
            return
        choice = self._reckoned.choice if self._reckoned is not None else None
        known = choice if choice is not None and choice.load == draft.load else None
        load = draft.load if known is None else planned_load(known)
        if will_not_fit(known):  # the ways out are in sight, and the button says so
            self._make(model, load)
        else:
            self._asking.before(model, load, self._make)

    def _make(self, model: Model, load: Load) -> None:
        self._services.background.follow(self._asking.make(model, load), _ignore, self._load_failed)
        self.closed.emit()

    def reset(self) -> None:
        """As it was when the sheet was opened."""
        if self._draft is not None:
            self._use_load(self._draft.before)

    def entered(self) -> None:
        self._show_draft()
        self._ask()
        self._show_running()
        memory = self.sections.get("memory")
        if memory is not None and memory.lines:
            next(iter(memory.lines.values())).field.setFocus()

    def left(self) -> None:
        self._reckoner.quiet()
        self._forget()

    def escape(self) -> bool:
        if self._presets.asks:
            self._presets.leave()
        else:
            self.closed.emit()
        return True

    def shut(self) -> None:
        self.left()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _lay_out(self) -> None:
        head = row(self._title, self._presets, None, self._leave, gap=3)
        self._inner = QWidget()
        self._listed: QVBoxLayout = column(gap=3)
        column(self._listed, None, owner=self._inner, margin=4)
        self._left = _scrolled(self._inner)
        self._left_panel = panel(self._left, margin=0)
        self._right = _scrolled(None)
        self._right_panel = panel(self._right, margin=0)
        body = row(self._left_panel, self._right_panel, gap=3)
        body.setStretch(0, 1)
        foot = row(self._hint, self._once, self._back, self._load, gap=3)
        foot.setStretch(0, 1)
        whole = column(head, self._verdict, self._errors, self._note, body, foot, owner=self, margin=4, gap=3)
        whole.setStretch(4, 1)
        self._note.hide()
        self._summary.setContentsMargins(0, 0, 0, 0)
        self._held = QWidget()
        self._held.setObjectName("scrolled")
        column(self._summary, owner=self._held, margin=4)
        self._right.setWidget(self._held)

    def _connect(self) -> None:
        services = self._services
        self._reckoner.done.connect(self._show_reckoned)
        self._room.changed.connect(lambda: self._summary.show_ends(self._room.words))
        self._summary.ways.taken.connect(self._take_way)
        self._summary.ways.left.connect(self.closed)
        self._cards.split.connect(self._split)
        self._cards.one_card.connect(self._use_load)
        self._presets.taken.connect(self._take_preset)
        self._presets.reset.connect(self._to_plain)
        self._keeper.failed.connect(self._errors.show_error)
        self._keeper.told.connect(self._say)
        self._keeper.changed.connect(self._show_buttons)
        self._keeper.kept.connect(services.weighing.choose_parts)
        services.bus.running_changed.connect(self._running_changed)
        services.memories.changed.connect(self._machine_seen)

    def _engine_of(self, load: Load) -> Engine:
        assert self._model is not None
        return engine_for(self._model, self._services.weighing.sources.engines.values(), load, self._machine)

    def _machine(self) -> Machine | None:
        here = self._services.weighing.here()
        return None if here is None else here.machine

    def _able(self) -> list[Engine]:
        if self._model is None:
            return []
        known = self._services.weighing.sources.engines.values()
        engines = engines_for(self._model.format, known, self._model, self._machine())
        return [engine for engine in engines if engine.missing() is None]

    def _running(self) -> Running | None:
        """The engine that holds the model, or is about to."""
        if self._model is None:
            return None
        running = running_of(self._model.id, self._services.supervisor.running())
        return running if running is not None and running.state in _HOLDING else None

    def _choose_engine(self, draft: Draft) -> None:
        """Another engine knows other settings: it is told what it can follow of them, and the rest is said."""
        engine = self._shown_engine(draft.load)
        if engine is None or engine.id == draft.engine.id:
            self._change_engine(draft)
            return
        self._forget()
        changed, left_out = draft.by(engine, self._able())
        self._use_engine(changed)
        said = text("{engine} does not follow all that was asked for.", engine=engine.title)
        self._say(" ".join([said, *(str(refusal_in_words(each)) for each in left_out)]) if left_out else "")

    def _change_engine(self, draft: Draft) -> None:
        """The engine of a load that is taken as it is."""
        engine = self._shown_engine(draft.load)
        if engine is not None:
            self._use_engine(replace(draft, engine=engine, controls=settings_of(engine, self._able())))

    def _shown_engine(self, load: Load) -> Engine | None:
        """The engine of `load`; None where there is none, and then it is said why."""
        try:
            engine = self._engine_of(load)
        except WeighbridgeError as error:
            self._errors.show_error(error)
            return None
        self._errors.hide()
        return engine

    def _use_engine(self, draft: Draft) -> None:
        known = self._draft.controls if self._draft is not None and self._sections else None
        self._draft = draft
        if known != draft.controls or self._needs_cards() != ("cards" in self.sections):
            self._build_sections()
        self._use(draft)

    def _needs_cards(self) -> bool:
        asked = self._draft.asked if self._draft is not None else {}
        own = {one.name for one in self._draft.controls if one.group == "cards"} if self._draft is not None else set()
        return self._services.weighing.has_cards or not own.isdisjoint(asked)

    def _build_sections(self) -> None:
        self._cards.setParent(None)
        for kept in (self._held, self._summary.ways):
            self._listed.removeWidget(kept)
        clear(self._listed)
        self._sections = []
        if self._draft is not None:
            for group in groups(self._draft.controls, with_cards=self._needs_cards()):
                head = self._cards if group.name == "cards" else None
                self._sections.append(self._section(Section(self._services.theme, group, head)))
        self._arrange()

    def _section(self, made: Section) -> Section:
        self._listed.addWidget(made)
        made.chosen.connect(self.set_value)
        made.put_back.connect(self._put_back)
        made.refused.connect(self._refused)
        made.hinted.connect(self._hint.setText)
        return made

    def _use(self, draft: Draft) -> None:
        """Show `draft` at once, with the figures of before until its own are there."""
        self._draft = draft
        self._show_draft()
        self._ask()

    def _forget(self) -> None:
        """What is being typed, or was typed wrong, counts no more."""
        self._wrong = {}
        for each in self._sections:
            each.forget()

    def _use_load(self, load: Load) -> None:
        if self._draft is not None:
            self._forget()
            self._change_engine(replace(self._draft, load=load))

    def _to_plain(self) -> None:
        """As the program would do it by itself."""
        if self._draft is not None:
            self._use_load(self._draft.plain)

    def _put_back(self, name: str) -> None:
        if self._draft is not None:
            self._wrong.pop(name, None)
            before = self._draft.put_back(name)
            self.set_value(name, before.value(name))

    def _refused(self, name: str, cause: Cause | None) -> None:
        if cause is None:
            self._wrong.pop(name, None)
        else:
            self._wrong[name] = cause
        self._show_buttons()

    def _split(self, shares: tuple[int, ...]) -> None:
        if self._draft is not None and "split" in self._draft.known:
            draft = self._draft.with_value("split", tuple(map(float, shares)))
            self._use(draft.with_value("split_mode", None) if draft.load.split_mode == "none" else draft)

    def _ask(self) -> None:
        if self._model is None or self._draft is None or not self.isVisible():
            return
        self._reckoner.ask(self._model, self._draft)
        self._room.ask(None if self._running() is not None else self._model, self._draft.load)
        self._summary.show_ends(self._room.words)

    def _show_reckoned(self, draft: Draft, reckoned: Reckoned) -> None:
        if draft is self._draft:
            self._reckoned = reckoned
            self._show_draft()

    def _show_draft(self) -> None:
        draft, reckoned = self._draft, self._reckoned
        if draft is None:
            return
        for each in self._sections:
            each.show_draft(draft, reckoned)
            each.say(self._warnings(draft))
        self._verdict.show_reckoned(reckoned)
        self._cards.show_reckoned(reckoned)
        needed = will_not_fit(reckoned.choice if reckoned else None)
        self._summary.show_reckoned(reckoned, needed=needed)
        self._summary.show_command(command_line(draft.load, draft.engine))
        self._show_buttons()

    def _warnings(self, draft: Draft) -> dict[str, tuple[str, str]]:
        machine = self._services.memories.machine
        cpu = machine.cpu if machine is not None else None
        told = {"threads": (threads_warning(draft.load, cpu, self._services.supervisor.running()), "warning")}
        refusal = draft.refusal
        if refusal is not None:
            told[str(refusal.values.get("name", ""))] = (str(refusal_in_words(refusal)), "bad")
        return {name: each for name, each in told.items() if each[0]}

    def _show_buttons(self) -> None:
        draft = self._draft
        refusal = None if draft is None else draft.refusal
        self._load.setEnabled(draft is not None and refusal is None and not self._wrong)
        self._back.setEnabled(draft is not None and (bool(draft.changed) or bool(self._wrong)))
        anyway = will_not_fit(self._reckoned.choice if self._reckoned else None)
        again = text("Load again") if self._running() is not None else text("Load")
        words = text("Load anyway") if anyway else again
        self._load.setText(words)
        self._load.setAccessibleName(words)
        give_role(self._load, "" if anyway else "primary")
        self._once.setVisible(draft is not None and bool(draft.asked) and not self._keeper.taken)

    def _show_running(self) -> None:
        running = self._services.supervisor.running()
        own = self._model.id if self._model is not None else ""
        others = [one for one in running if one.model_id != own and one.state in _HOLDING]
        self._summary.show_running(self._running(), others, self._services.settings.value.idle_s)

    def _running_changed(self) -> None:
        if self.isVisible():
            self._show_running()
            self._ask()

    def _machine_seen(self) -> None:
        if self.isVisible() and self._reckoned is None:
            self._ask()

    def _asked(self) -> Mapping[str, Any]:
        """What a preset keeps."""
        return {} if self._draft is None else self._draft.asked

    def _say(self, words: str) -> None:
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def _take_way(self, way: Way) -> None:
        if way.kind is WayKind.QUANT:
            self.show_model(way.choice.model, way.choice.load)
        else:
            self._use_load(way.choice.load)

    def _take_preset(self, preset: Preset) -> None:
        draft = self._draft
        if draft is None:
            return
        named = next((one for one in self._able() if one.id == preset.values.get("engine")), draft.engine)
        self._use_load(applied(draft.plain, preset.values, named, self._able()).load)
        self._keeper.take(preset)

    def _left_out(self, preset: Preset) -> tuple[Cause, ...]:
        draft = self._draft
        return () if draft is None else applied(draft.plain, preset.values, draft.engine, self._able()).left_out

    def _load_failed(self, error: BaseException) -> None:
        """What the engine itself failed with stands where the model does; here what never came so far."""
        known = () if self._model is None else self._services.supervisor.running()
        if not isinstance(error, Cancelled) and not any(one.error is not None for one in known):
            self._services.bus.failed.emit(error)

    def _arrange(self) -> None:
        """What it comes to stands at the right; where there is no room, below the settings, and ways out above them."""
        em = self.fontMetrics().height()
        wide, roomy = self.width() >= _WIDE_EMS * em, self.width() >= _ROOMY_EMS * em
        self._right_panel.setFixedWidth(em * (_SUMMARY_EMS if roomy else _LEAST_SUMMARY_EMS))
        for each in self._sections:
            each.use_wide(roomy)
        self._right_panel.setVisible(wide)
        if wide and self._right.widget() is not self._held:
            self._listed.removeWidget(self._held)
            self._right.setWidget(self._held)
            self._summary.take_ways()
        elif not wide and self._listed.indexOf(self._held) < 0:
            if self._right.widget() is self._held:
                self._right.takeWidget()
            self._listed.addWidget(self._held)
            self._held.setAutoFillBackground(False)  # a scroll area has it filled
            self._listed.insertWidget(0, self._summary.ways)
        self._held.show()


def _scrolled(inner: QWidget | None) -> QScrollArea:
    made = QScrollArea()
    made.setWidgetResizable(True)
    made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    made.setFrameShape(QFrame.Shape.NoFrame)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    made.setContentsMargins(0, STEP, 0, STEP)
    if inner is not None:
        inner.setObjectName("scrolled")
        made.setWidget(inner)
    return made


def _ignore(value: object) -> None:
    """What a load ends in is told by `running_changed`."""
    del value
