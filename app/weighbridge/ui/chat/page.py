"""The chat page: conversations at the left, messages in the middle, options at the right."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from weighbridge.base.errors import BadFile, Cancelled, NotFound, Refused
from weighbridge.base.task import Task
from weighbridge.base.units import number
from weighbridge.base.words import text
from weighbridge.chat.answering import News, Phase
from weighbridge.chat.client import ChatClient
from weighbridge.chat.conversation import Attached, Conversation, Message
from weighbridge.chat.meter import Reading
from weighbridge.library.model import Model, Reach
from weighbridge.running.sight import not_shown
from weighbridge.running.state import Running, State
from weighbridge.ui.asking import Asking
from weighbridge.ui.chat.attaching import Attaching
from weighbridge.ui.chat.base_load import base_load
from weighbridge.ui.chat.column import MessageColumn
from weighbridge.ui.chat.composer import Composer
from weighbridge.ui.chat.conversations import ConversationList
from weighbridge.ui.chat.dialogue import Dialogue
from weighbridge.ui.chat.held import HeldLoads
from weighbridge.ui.chat.items import Drawing
from weighbridge.ui.chat.loading import LoadingRow
from weighbridge.ui.chat.models import ChosenModel
from weighbridge.ui.chat.options import Options, options_from
from weighbridge.ui.chat.options_pane import OptionsPane
from weighbridge.ui.chat.panes import Panes
from weighbridge.ui.chat.sight import is_shown
from weighbridge.ui.chat.strip import LiveStrip
from weighbridge.ui.chat.switcher import ModelSwitcher
from weighbridge.ui.elsewhere_words import reach_badge, where_it_goes
from weighbridge.ui.fixing import Fixing, Go
from weighbridge.ui.pages.page import Page
from weighbridge.ui.room import Room
from weighbridge.ui.running_words import badge_of
from weighbridge.ui.served import not_understood
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.empty_state import EmptyState
from weighbridge.ui.widgets.finding_panel import FindingPanel
from weighbridge.ui.widgets.parts import action, button, column, row
from weighbridge_engines.api import Load

REMEMBERED = "chat.open"
FIGURES_EVERY = 6
"""Figures are shown at each sixth tick, five times a second: faster cannot be read."""


class ChatPage(Page):
    """Talks to the chosen model; loads it with the first message where it is not loaded.

    `client` is closed with the page.
    """

    def __init__(self, services: Services, client: ChatClient | None = None) -> None:
        super().__init__()
        self._services = services
        self._store = services.store
        self._editing: Message | None = None
        self._search_task: Task | None = None
        self._ticks = 0
        self._speed_ticks = 0
        self._speaks: str | None = None
        self._chosen = ChosenModel(services, self)
        self._room = Room(services, self)
        self._asking = Asking(services, self)
        self._held = HeldLoads(services)
        asked = services.supervisor, services.answer_speeds, client or ChatClient(), partial(is_shown, services)
        self._dialogue = Dialogue(services.store, *asked, self)
        self._list = ConversationList(services.theme)
        self._switcher = ModelSwitcher()
        self._reach = Badge(services.theme, "unknown", "")
        self._settings = button(text("Settings…"), self._set_load, name=text("Load with settings…"))
        self._note = ElidedLabel()
        self._note.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._column = MessageColumn(Drawing(services.theme, services.background))
        self._empty = EmptyState("", "", self._fill_emptiness)
        self._middle = QStackedWidget()
        self._error = FindingPanel(services.theme)
        self._fixing = Fixing(services)
        self._failed: BaseException | None = None
        self._loading = LoadingRow()
        self._strip = LiveStrip(services.theme)
        self._composer = Composer()
        self._attaching = Attaching(services.background, self)
        self._options = OptionsPane(services.theme)
        self._panes = self._lay_out()
        self._connect()
        self._add_actions()
        self._restore()
        self._show_model()

    @property
    def dialogue(self) -> Dialogue:
        """The conversation that is open and the answer in flight."""
        return self._dialogue

    @property
    def composer(self) -> Composer:
        """Where a message is written."""
        return self._composer

    @property
    def column(self) -> MessageColumn:
        """The messages."""
        return self._column

    @property
    def options(self) -> OptionsPane:
        """The load settings, sampling and system prompt."""
        return self._options

    @property
    def strip(self) -> LiveStrip:
        """The live figures."""
        return self._strip

    def entered(self) -> None:
        self._show_model()
        self._composer.take_focus()

    def left(self) -> None:
        self._remember()

    def escape(self) -> bool:
        if self._dialogue.answer is not None:
            self.stop()
        elif self._composer.editing:
            self._composer.leave_edit()
        else:
            return False
        return True

    def shut(self) -> None:
        self._remember()
        self._loading.shut()
        self._options.shut()
        self._list.shut()
        self._column.discard()
        self._dialogue.shut()

    def send(self, words: str) -> None:
        """Send a message, or the edited one, to the chosen model; where that will not fit, ask first what to do."""
        self._with_load(partial(self._send, words, self._composer.pictures))

    def _attach(self, picture: Attached) -> None:
        try:
            self._composer.add_picture(picture)
        except Refused as refusal:
            self._error.show_error(refusal)

    def _send(self, words: str, pictures: tuple[Attached, ...], model: Model, load: Load) -> None:
        if pictures and is_shown(self._services, model, load) is False:
            self._error.show_error(not_shown(model))
            return
        options = self._options.options
        self._strip.clear()
        if self._editing is not None:
            self._dialogue.edit(self._editing, words, model, load, options, pictures)
        else:
            self._dialogue.send(words, model, load, options, pictures)
        self._editing = None
        self._composer.clear()

    def _with_load(self, act: Go) -> None:
        """Have `act` use the chosen model as it is asked for, or the model and load that are chosen in place of it."""
        model = self._chosen.model
        if model is None:
            return
        self._error.hide()
        self._asking.before(model, self._asked_load(model), partial(self._go, act))

    def _go(self, act: Go, model: Model, load: Load) -> None:
        self._chosen.choose(model.id)
        self._follow(model.id, load)
        self._held.bring_back(model.id, load)
        act(model, load)

    def _follow(self, model_id: str, load: Load) -> None:
        """Ask for what the chosen model is loaded with, not for what was asked before."""
        model = self._chosen.model
        options = self._options.options.following(load)
        if model is None or model.remote is not None:
            return
        if model.id == model_id and options != self._options.options:
            self._options.show_options(options)
            self._keep_options()

    def stop(self) -> None:
        """Stop the answer in flight; a load that only it waits for stops too."""
        waiting = self._dialogue.phase is Phase.WAITING
        self._dialogue.stop()
        if waiting:
            self._cancel_load()

    def new_chat(self) -> None:
        """Begin a new conversation, with the options of the one before."""
        self._asking.forget()
        self._dialogue.open(None)
        self._composer.take_focus()
        self._show_list()

    def open(self, conversation_id: int) -> None:
        """Show a conversation with the options it was last sent with."""
        self._asking.forget()
        try:
            self._dialogue.open(conversation_id)
        except NotFound as error:
            self._error.show_error(error)
            return
        conversation = self._dialogue.conversation
        if conversation is not None:
            self._options.show_options(options_from(conversation.settings, conversation.system_prompt))
            if conversation.model_id is not None and any(
                one.id == conversation.model_id for one in self._chosen.models
            ):
                self._chosen.choose(conversation.model_id)
        self._show_list()

    def _lay_out(self) -> Panes:
        self._middle.addWidget(self._empty)
        self._middle.addWidget(self._column)
        self._chats_button = button(text("Chats"), self._toggle_list)
        self._options_button = button(text("Options"), self._toggle_options)
        head = QWidget()
        first, last = (self._switcher, self._reach, self._settings), (self._chats_button, self._options_button)
        row(*first, self._note, None, *last, owner=head, gap=2)
        middle = QWidget()
        whole = column(head, self._middle, self._error, self._loading, self._strip, self._composer, owner=middle, gap=2)
        whole.setStretch(1, 1)
        panes = Panes(self._list, middle, self._options)
        panes.arranged.connect(lambda: self._chats_button.setVisible(self._list.isHidden()))
        column(panes, owner=self, margin=4)
        # Part by part: the messages dress themselves.
        below = (self._error, self._loading, self._strip, self._composer)
        self._services.theme.dress(head, self._list, self._empty, *below, self._options)
        return panes

    def _connect(self) -> None:
        self._chosen.changed.connect(self._show_model)
        self._chosen.listed.connect(self._show_listed)
        self._dialogue.path_changed.connect(self._show_path)
        self._dialogue.news.connect(self._take)
        self._dialogue.speed_changed.connect(self._tell_speed)
        self._dialogue.busy_changed.connect(self._show_busy)
        self._dialogue.conversations_changed.connect(self._show_list)
        self._list.opened.connect(self.open)
        self._list.new_wanted.connect(self.new_chat)
        self._list.renamed.connect(self._dialogue.rename)
        self._list.deleted.connect(self._dialogue.delete)
        self._list.restored.connect(self._dialogue.restore)
        self._list.searched.connect(lambda _words: self._show_list())
        self._switcher.chosen.connect(self._chosen.choose)
        self._switcher.more_wanted.connect(self._services.bus.switch_wanted)
        self._switcher.pin_wanted.connect(self._services.supervisor.pin)
        self._room.changed.connect(self._show_note)
        self._column.edit_wanted.connect(self._edit)
        self._column.regenerate_wanted.connect(self._regenerate)
        self._column.branch_wanted.connect(self._dialogue.go)
        self._composer.sent.connect(self.send)
        self._composer.stopped.connect(self.stop)
        self._composer.edit_left.connect(self._leave_edit)
        self._composer.attach_wanted.connect(self._attaching.choose)
        self._composer.offered.connect(self._attaching.take)
        self._attaching.ready.connect(self._attach)
        self._attaching.refused.connect(self._error.show_error)
        self._loading.cancelled.connect(self.stop)
        self._fixing.serve(self._error)
        self._services.bus.load_made.connect(self._follow)
        self._options.changed.connect(self._keep_options)
        self._options.reload_wanted.connect(self._load)
        self._options.settings_wanted.connect(self._set_load)

    def _add_actions(self) -> None:
        action(self, text("New chat"), self.new_chat, "Ctrl+N")
        action(self, text("Stop the answer"), self.stop)
        action(self, text("Regenerate the last answer"), self._regenerate_last, "Ctrl+R")
        action(self, text("Copy the last answer"), self._copy_last, "Ctrl+Shift+A")
        action(self, text("Show or hide the list of chats"), self._toggle_list, "Ctrl+B")
        action(self, text("Show or hide the options"), self._toggle_options, "Ctrl+Alt+B")
        action(self, text("Load the chosen model now"), self._load)
        self._do_set = action(self, text("Load with settings…"), self._set_load, "Ctrl+Shift+Return")

    def _restore(self) -> None:
        """What was open at the last end, at the same place."""
        kept = self._store.remembered(REMEMBERED)
        known = {one.id for one in self._store.conversations()}
        if isinstance(kept, dict) and kept.get("conversation") in known:
            self.open(kept["conversation"])
            place = kept.get("place")
            self._column.go_to(place if isinstance(place, int) else None)
        else:
            self._dialogue.open(None)
        self._show_list()

    def _remember(self) -> None:
        conversation = self._dialogue.conversation
        kept = {"conversation": None if conversation is None else conversation.id, "place": self._column.place()}
        with contextlib.suppress(BadFile):  # the disk is full: what was open is not worth a word when one goes
            self._store.remember(REMEMBERED, kept)

    def _show_path(self) -> None:
        path = self._dialogue.path
        if self._editing is not None and all(one.id != self._editing.id for one in path):
            self._composer.leave_edit()
        self._column.show_path(path, self._dialogue.branch_of)
        self._middle.setCurrentWidget(self._column if path else self._empty)
        self._show_figures(path[-1] if path else None)
        self._show_note()

    def _take(self, news: News) -> None:
        self._column.take(news)
        self._ticks += 1
        if news.message is not None:
            self._show_figures(news.message)
        elif self._ticks % FIGURES_EVERY:
            return
        self._loading.show_running(self._chosen.running, self._dialogue.place)
        if news.message is None and news.reading is not None:
            self._strip.show_reading(news.reading, self._context(), goes_on=True)

    def _tell_speed(self, model_id: str, tps: float | None, counted: bool) -> None:
        """To the top bar, which follows the answer in flight, whatever is looked at."""
        self._speed_ticks += 1
        if self._speed_ticks % FIGURES_EVERY == 0:
            self._speaks = model_id
            self._services.bus.speed_told.emit(model_id, tps, counted)

    def _show_figures(self, message: Message | None) -> None:
        """The figures of an answer that is over, or the emptiness before the first."""
        reading = reading_of(message) if message is not None else None
        self._strip.setVisible(message is not None)
        if message is not None and (self._dialogue.answer is None or message.id != self._dialogue.answer.id):
            self._strip.show_reading(reading, message.figures.get("context"), goes_on=False)

    def _show_busy(self) -> None:
        answer = self._dialogue.answer
        self._composer.set_busy(answer is not None)
        self._column.set_busy(answer is not None)
        if answer is None:
            if self._speaks is not None:
                self._services.bus.speed_told.emit(self._speaks, None, False)
                self._speaks = None
            self._show_list()
            self._show_model()

    def _show_list(self) -> None:
        """Read the list anew, off the GUI thread: a search looks at every message."""
        if self._search_task is not None:
            self._search_task.cancel()
        words = self._list.search
        self._search_task = self._services.background.run(
            lambda _task: self._store.conversations(words), self._found, self._not_found
        )

    def _found(self, found: tuple[Conversation, ...]) -> None:
        conversation = self._dialogue.conversation
        titles = {one.id: one.title for one in self._chosen.models}
        self._list.show_conversations(found, None if conversation is None else conversation.id, titles)

    def _not_found(self, error: BaseException) -> None:
        if not isinstance(error, Cancelled):
            self._error.show_error(error)

    def _show_listed(self) -> None:
        """Where nobody sees it, it is shown as the page is entered: there may be thousands of models."""
        if self.isVisible():
            self._show_model()

    def _show_model(self) -> None:
        model, running = self._chosen.model, self._chosen.running
        self._held.see()
        self._switcher.show_models(self._chosen.models, self._services.supervisor.running(), model)
        load = None if model is None else self._asked_load(model)
        loaded = running is not None and running.state is not State.FAILED
        self._room.ask(None if loaded or not self.isVisible() else model, load)
        self._composer.set_sees(False if model is None or load is None else is_shown(self._services, model, load))
        self._show_note()
        self._composer.set_target(model.title if model is not None else None, leaves=bool(model and model.leaves))
        self._show_served(model)
        self._loading.show_running(running, self._dialogue.place)
        self._strip.show_memory(running.memory_bytes if running is not None else None)
        self._show_effective(model, running)
        self._show_emptiness(model, running)
        if running is not None and running.state is State.FAILED:
            self._dialogue.blame(running)
        self._show_failure(model, running)

    def _show_served(self, model: Model | None) -> None:
        """How far what is asked of the model goes; and of what an endpoint serves nothing of loads and memory."""
        remote = None if model is None else model.remote
        self._reach.setVisible(bool(model and model.leaves))
        if remote is not None:
            self._reach.say(*reach_badge(remote.reach), least=reach_badge(Reach.INTERNET)[1])
            self._reach.setToolTip(where_it_goes(remote))
        self._settings.setVisible(remote is None)
        self._do_set.setEnabled(remote is None)
        self._strip.have_memory(remote is None)
        lacking = () if model is None else not_understood(self._services, model, self._options.samplers)
        self._options.show_served(None if remote is None else remote.endpoint, lacking)

    def _show_failure(self, model: Model | None, running: Running | None) -> None:
        """What can be done where the chosen model could not be loaded."""
        error = running.error if running is not None and running.state is State.FAILED else None
        if model is not None and model.remote is not None and self._is_told:
            error = None  # about a server elsewhere nothing can be done here that the message does not say
        if model is not None and running is not None and error is not None:
            self._failed = error
            self._error.show_error(error)
            self._fixing.look(self._error, model, running)
        elif self._failed is not None and self._error.error is self._failed:
            self._failed = None
            self._error.hide()

    @property
    def _is_told(self) -> bool:
        """Whether the last message tells why there is no answer."""
        path = self._dialogue.path
        return bool(path) and path[-1].error is not None

    def _show_note(self) -> None:
        """Whether the model is loaded, otherwise than before where it is so, and what loading it would end."""
        running = self._chosen.running
        parts = (_note(self._chosen.model, running), self._unseen(), self._held.words(running), self._room.words)
        self._note.setText(" · ".join(part for part in parts if part))

    def _unseen(self) -> str:
        """Said where the chat has pictures and the chosen model sees none."""
        shown = any(one.pictures for one in self._dialogue.path) and not self._composer.sees
        return text("pictures are not sent: it sees none") if shown and self._chosen.model is not None else ""

    def _show_effective(self, model: Model | None, running: Running | None) -> None:
        ready = running is not None and running.state is State.READY
        differs = False
        if model is not None and model.remote is None and running is not None and ready:
            differs = self._asked_load(model) != running.load
        self._options.show_effective(running.settings if running is not None and ready else (), differs=differs)

    def _show_emptiness(self, model: Model | None, running: Running | None) -> None:
        if model is None:
            self._empty.say(text("There is no model here yet."))
            self._empty.button.setText(text("Open the Library"))
        else:
            ask = text("Ask {model} something.", model=model.title)
            self._empty.say(ask, "" if model.remote is None else where_it_goes(model.remote))
            self._empty.button.setText(text("Load it now") if model.remote is None else text("Connect now"))
        self._empty.button.setVisible(running is None or running.state is State.FAILED)

    def _fill_emptiness(self) -> None:
        if self._chosen.model is None:
            self._services.bus.page_wanted.emit("library")
        else:
            self._load()

    def _load(self) -> None:
        self._with_load(self._make)

    def _make(self, model: Model, load: Load) -> None:
        loading = self._asking.make(model, load)
        self._services.background.stream(_wait_for(loading), lambda _running: None, self._not_found, "load")

    def _asked_load(self, model: Model) -> Load:
        """As the options say; what they leave open is as it is loaded, or would be. Of what an endpoint serves they say
        nothing.
        """
        base = base_load(self._services.supervisor, model)
        return base if model.remote is not None else self._options.options.load(base)

    def _set_load(self) -> None:
        """Load the chosen model with settings."""
        model = self._chosen.model
        if model is not None and model.remote is None:
            self._services.bus.load_wanted.emit(model.id, self._asked_load(model))

    def _cancel_load(self) -> None:
        running = self._chosen.running
        if running is not None and running.state is State.LOADING:
            self._services.supervisor.stop(running.model_id)

    def _keep_options(self) -> None:
        conversation = self._dialogue.conversation
        options: Options = self._options.options
        if conversation is not None:
            self._store.keep_settings(conversation.id, options.system_prompt, options.as_json())
        self._show_effective(self._chosen.model, self._chosen.running)

    def _edit(self, answer: Message) -> None:
        question = next((one for one in self._dialogue.path if one.id == answer.parent_id), None)
        if question is not None and self._dialogue.answer is None:
            self._editing = question
            self._composer.edit(question.text, question.pictures)

    def _leave_edit(self) -> None:
        self._editing = None

    def _regenerate(self, answer: Message) -> None:
        self._with_load(partial(self._answer_again, answer))

    def _answer_again(self, answer: Message, model: Model, load: Load) -> None:
        self._strip.clear()
        self._dialogue.regenerate(answer, model, load, self._options.options)

    def _regenerate_last(self) -> None:
        if self._column.items:
            self._regenerate(self._column.items[-1].message)

    def _copy_last(self) -> None:
        if self._column.items:
            self._column.items[-1].copy()

    def _toggle_list(self) -> None:
        self._panes.toggle_left()

    def _toggle_options(self) -> None:
        self._panes.toggle_right()

    def _context(self) -> int | None:
        running = self._chosen.running
        return running.slot_context if running is not None else None


def _wait_for(loading: Future[Running]) -> Callable[[Task], Running]:
    """Waits for a load on a thread of its own, and no longer once it is cancelled."""

    def wait(task: Task) -> Running:
        def cancel() -> None:
            loading.cancel()

        task.on_cancel(cancel)
        return loading.result()

    return wait


def reading_of(message: Message) -> Reading | None:
    """The figures kept with an answer, as a reading; None where none were."""
    figures = message.figures
    if "source" not in figures:
        return None
    return Reading(
        source=figures["source"],
        decode_tps=figures.get("decode_tps"),
        prompt_tps=figures.get("prompt_tps"),
        ttft_ms=figures.get("ttft_ms"),
        context_used=figures.get("context_used"),
        output_tokens=figures.get("output_tokens", 0),
    )


def _note(model: Model | None, running: Running | None) -> str:
    """What stands beside the model's name."""
    if model is None:
        return ""
    if running is None:
        return text("not loaded") if model.remote is None else text("not connected")
    if running.state is State.READY and running.context is not None:
        return text("{context} context", context=number(running.context))
    return badge_of(running)[1]
