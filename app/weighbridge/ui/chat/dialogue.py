"""The conversation that is open, and the one answer in flight. Owns both; widgets show what it tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from weighbridge.base.words import text
from weighbridge.chat.answering import Answering, Ask, Phase, failure_of
from weighbridge.chat.client import ChatClient
from weighbridge.chat.conversation import (
    Attached,
    Conversation,
    Message,
    branch,
    neighbour,
    newest_leaf,
    path_to,
    request_messages,
    title_from,
)
from weighbridge.chat.thinking import Answer
from weighbridge.ui.chat.options import Options

if TYPE_CHECKING:  # built elsewhere: the window shows before they are
    from weighbridge.chat.speeds import AnswerSpeeds
    from weighbridge.chat.store import ChatStore
    from weighbridge.library.model import Model
    from weighbridge.running.lease import Lease
    from weighbridge.running.state import Running
    from weighbridge.running.supervisor import Supervisor
    from weighbridge_engines.api import Load

BROKE_OFF = ("stream.interrupted", "engine.silent")
"""Ends of an answer that have a cause behind them."""
TICK_MS = 33
"""Text is drawn 30 times a second."""


class Dialogue(QObject):
    """`path` is what is shown. At most one answer is in flight; it goes on while another conversation is looked at."""

    path_changed = Signal()
    """Another conversation, branch or message: draw the path anew."""
    news = Signal(object)
    """`News` of the answer in flight, at each tick, where it is in the path."""
    speed_changed = Signal(str, object, bool)
    """The model of the answer in flight, its tokens per second now, or None, and whether they were counted here; at
    each tick, wherever it is.
    """
    busy_changed = Signal()
    """An answer began or ended."""
    conversations_changed = Signal()
    """A conversation was made, changed or deleted."""

    def __init__(
        self,
        store: ChatStore,
        supervisor: Supervisor,
        speeds: AnswerSpeeds,
        client: ChatClient,
        is_shown: Callable[[Model, Load], bool | None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._supervisor = supervisor
        self._speeds = speeds
        self._client = client
        self._is_shown = is_shown
        self._conversation: Conversation | None = None
        self._messages: tuple[Message, ...] = ()
        self._leaf_id: int | None = None
        self._answering: Answering | None = None
        self._answer: Message | None = None
        self._ended: Message | None = None
        self._lease: Future[Lease] | None = None
        self._so_far = Answer()
        self._phase = Phase.OVER
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._tick)

    @property
    def conversation(self) -> Conversation | None:
        """The conversation that is open; None before the first message of a new one."""
        return self._conversation

    @property
    def path(self) -> tuple[Message, ...]:
        """The messages of the branch looked at; the answer in flight with its text so far."""
        return tuple(self._with_so_far(one) for one in path_to(self._messages, self._leaf_id))

    @property
    def answer(self) -> Message | None:
        """The answer in flight, in whatever conversation it is."""
        return self._answer

    @property
    def phase(self) -> Phase:
        """What the answer in flight waits for; OVER where there is none."""
        return self._phase

    @property
    def place(self) -> int | None:
        """The place in the queue, from 1, of an answer that waits for its model; None where none waits."""
        if self._lease is None or self._phase is not Phase.WAITING:
            return None
        return self._supervisor.position(self._lease)

    def branch_of(self, message: Message) -> tuple[int, int]:
        """Which branch `message` is, of how many."""
        return branch(self._messages, message)

    def open(self, conversation_id: int | None) -> None:
        """Show a conversation; None shows a new, empty one."""
        self._conversation = None if conversation_id is None else self._store.conversation(conversation_id)
        self._read(None if self._conversation is None else self._conversation.leaf_id)

    def send(self, words: str, model: Model, load: Load, options: Options, pictures: Sequence[Attached] = ()) -> None:
        """Send `words` with `pictures` after the path, in a new conversation where none is open, to `model` as `load`
        loads it.
        """
        path = self.path
        self._ask(words, pictures, path[-1].id if path else None, model, load, options)

    def edit(
        self,
        question: Message,
        words: str,
        model: Model,
        load: Load,
        options: Options,
        pictures: Sequence[Attached] = (),
    ) -> None:
        """Send `words` with `pictures` in place of `question`, as a branch beside it."""
        self._ask(words, pictures, question.parent_id, model, load, options)

    def regenerate(self, answer: Message, model: Model, load: Load, options: Options) -> None:
        """Have the question of `answer` answered again, as a branch beside it."""
        question = next((one for one in self._messages if one.id == answer.parent_id), None)
        if question is not None and self._answering is None:
            again = self._store.ask_again(question, model.id, options.as_json())
            self._read(again.id)
            self._start(again, model, load, options)

    def go(self, message: Message, step: int) -> None:
        """Show the branch `step` beside `message`."""
        beside = neighbour(self._messages, message, step)
        if beside is not None and self._conversation is not None:
            self._leaf_id = newest_leaf(self._messages, beside.id)
            self._store.choose_leaf(self._conversation.id, self._leaf_id)
            self.path_changed.emit()

    def stop(self) -> None:
        """Stop the answer in flight; its text stays."""
        if self._answering is not None:
            self._answering.stop()
            self._tick()

    def blame(self, failed: Running) -> None:
        """An engine has failed: where the last answer broke off, this is why; the answer is kept with that cause."""
        ended = self._ended
        if ended is None or ended.error is None or failed.error is None or self._answer is not None:
            return
        if ended.error.code in BROKE_OFF and ended.model_id == failed.model_id:
            cause = failure_of(failed.error)
            blamed = replace(ended, error=replace(cause, log=cause.log or failed.log))
            self._ended = None
            self._store.finish(blamed)
            self._replace(blamed)
            self.path_changed.emit()

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        self._store.rename(conversation_id, title)
        self.conversations_changed.emit()

    def delete(self, conversation_id: int) -> None:
        """Take a conversation away; an answer in flight in it is stopped. `restore` undoes it."""
        if self._answer is not None and self._answer.conversation_id == conversation_id:
            self.stop()
        self._store.delete(conversation_id)
        if self._conversation is not None and self._conversation.id == conversation_id:
            self.open(None)
        self.conversations_changed.emit()

    def restore(self, conversation_id: int) -> None:
        """Bring a deleted conversation back and show it."""
        self._store.restore(conversation_id)
        self.conversations_changed.emit()
        self.open(conversation_id)

    def shut(self) -> None:
        """Stop, wait for the thread, write what came."""
        self._timer.stop()
        if self._answering is not None:
            self._answering.close()
            self._answering = None
        self._client.close()

    def _ask(
        self,
        words: str,
        pictures: Sequence[Attached],
        parent_id: int | None,
        model: Model,
        load: Load,
        options: Options,
    ) -> None:
        if self._answering is not None:
            return
        if self._conversation is None:
            self._conversation = self._store.create(title_from(words) or text("New chat"), model.id)
        self._store.keep_settings(self._conversation.id, options.system_prompt, options.as_json())
        settings = _settings(load, options)
        _, answer = self._store.ask(self._conversation.id, parent_id, words, model.id, settings, pictures)
        self._read(answer.id)
        self._start(answer, model, load, options)

    def _start(self, answer: Message, model: Model, load: Load, options: Options) -> None:
        path = path_to(self._messages, answer.parent_id)
        messages = request_messages(path, options.system_prompt, sees=self._is_shown(model, load) is not False)
        lease = self._supervisor.lease(model, load)
        ask = Ask(answer, tuple(messages), options.sampling)
        self._lease = lease
        attend = partial(self._speeds.attend, model)
        self._answering = Answering(ask, lease, self._client, self._store, attend=attend)
        self._answer, self._so_far, self._phase = answer, Answer(), Phase.WAITING
        self._answering.start()
        self._timer.start()
        self.conversations_changed.emit()
        self.busy_changed.emit()

    def _tick(self) -> None:
        if self._answering is None or self._answer is None:
            return
        news = self._answering.drain()
        answer_id = self._answer.id
        for piece in news.pieces:
            self._so_far.add(piece)
        self._phase = news.phase
        if news.message is None and news.reading is not None:
            reading = news.reading
            self.speed_changed.emit(self._answer.model_id, reading.now_tps, reading.source == "counted")
        if news.message is not None:
            self._end(news.message)
        if any(one.id == answer_id for one in path_to(self._messages, self._leaf_id)):
            self.news.emit(news)
        if news.message is not None:
            self.busy_changed.emit()

    def _end(self, message: Message) -> None:
        self._timer.stop()
        if self._answering is not None:
            self._answering.close()
        self._answering = self._answer = self._lease = None
        self._ended = message
        self._replace(message)

    def _replace(self, message: Message) -> None:
        self._messages = tuple(message if one.id == message.id else one for one in self._messages)

    def _read(self, leaf_id: int | None) -> None:
        self._messages = () if self._conversation is None else self._store.messages(self._conversation.id)
        self._leaf_id = leaf_id
        self.path_changed.emit()

    def _with_so_far(self, message: Message) -> Message:
        if self._answer is None or message.id != self._answer.id:
            return message
        return replace(message, text=self._so_far.text, reasoning=self._so_far.reasoning)


def _settings(load: Load, options: Options) -> Mapping[str, Any]:
    """How a message was sent."""
    return {"load": load.as_json(), "sampling": options.sampling.body(), "system_prompt": options.system_prompt}
