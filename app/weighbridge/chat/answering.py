"""One answer in flight: waits for the model, asks it, keeps what comes, and can be stopped at any moment.

It runs on one thread of its own. Whoever shows the answer drains `Answering` at its own pace, 30 times a second; the
text is also written to the store about once a second, on a second thread, so that a stream that stalls does not hold
it back, and at the end with its state, error and figures.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from weighbridge.base.errors import BadFile, Cancelled, EngineFailed, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient, Sampling, chat_body
from weighbridge.chat.conversation import Failure, Message, MessageState
from weighbridge.chat.events import Delta, Event, Finish, StreamFault
from weighbridge.chat.keeping import Keeper
from weighbridge.chat.meter import Meter, Reading
from weighbridge.chat.speeds import Attend
from weighbridge.chat.store import ChatStore
from weighbridge.chat.thinking import Answer, Piece, ThinkSplitter
from weighbridge.running.lease import Lease


class Phase(StrEnum):
    """What an answer waits for: the model to be loaded, the prompt to be read, its end."""

    WAITING = "waiting"
    READING = "reading"
    WRITING = "writing"
    OVER = "over"


@dataclass(frozen=True)
class Ask:
    """What is asked: the request's messages and sampling, and the empty answer already in the store."""

    answer: Message
    messages: tuple[dict[str, Any], ...]
    sampling: Sampling


@dataclass(frozen=True)
class News:
    """What happened since the last look: pieces of text in order, the figures now, and the whole message once over."""

    phase: Phase
    pieces: tuple[Piece, ...]
    reading: Reading | None
    message: Message | None


class Answering:
    """`start` it, `drain` it until its phase is over, `stop` it whenever. `close` also waits for its thread.

    `lease` is a future on a loaded model; it is given back at the end in every case, also where it comes after a stop.
    `attend` is entered as the question is sent, and left before that.
    """

    def __init__(
        self,
        ask: Ask,
        lease: Future[Lease],
        client: ChatClient,
        store: ChatStore,
        *,
        attend: Attend = lambda _reading: nullcontext(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._lease = lease
        self._client = client
        self._store = store
        self._attend = attend
        self._clock = clock
        self._task = Task()
        self._stopped: Future[None] = Future()
        self._pieces: deque[Piece] = deque()
        self._phase = Phase.WAITING
        self._meter: Meter | None = None
        self._splitter = ThinkSplitter()
        self._kept = Answer()
        self._thought = _Thought(clock)
        self._finish: str | None = None
        self._fault: StreamFault | None = None
        self._keeper = Keeper(store, ask.answer.id)
        self._context: int | None = None
        self._over: Message | None = None
        self._thread = threading.Thread(target=self._run, name="answer")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End it now, keeping the text: while it waits for the model, reads the prompt, or writes."""
        self._task.cancel()
        if not self._stopped.done():
            self._stopped.set_result(None)

    def close(self) -> None:
        """`stop`, and wait for the thread."""
        self.stop()
        if self._thread.ident is not None:
            self._thread.join()

    def drain(self) -> News:
        """What is new. The message comes with, or after, the last pieces."""
        over = self._over
        pieces = tuple(self._pieces.popleft() for _ in range(len(self._pieces)))
        return News(
            phase=self._phase if over is None else Phase.OVER,
            pieces=pieces,
            reading=self._reading(),
            message=over,
        )

    def _run(self) -> None:
        self._keeper.start()
        state, error = self._outcome()
        self._keeper.close()
        self._add(self._splitter.end())
        message = replace(
            self._ask.answer,
            text=self._kept.text,
            reasoning=self._kept.reasoning,
            state=state,
            error=error,
            figures=self._figures(),
        )
        try:
            self._store.finish(message)
        except BadFile as fault:
            message = replace(message, error=Failure("chat.storage", {"reason": fault.values.get("reason")}))
        self._over = message

    def _outcome(self) -> tuple[MessageState, Failure | None]:
        try:
            lease = self._wait_for_lease()
            with lease:
                self._stream(lease)
        except Cancelled:
            return MessageState.STOPPED, None
        except WeighbridgeError as error:
            return self._broken(), failure_of(error)
        except Exception as error:  # a fault of ours: the window must hear of an end all the same
            logging.getLogger(__name__).exception("answer failed")
            return self._broken(), Failure("chat.fault", {"reason": repr(error)})
        if self._fault is not None:
            return self._broken(), Failure(self._fault.code, {"message": self._fault.message})
        return MessageState.COMPLETE, None

    def _broken(self) -> MessageState:
        began = self._kept.text or self._kept.reasoning
        return MessageState.INTERRUPTED if began else MessageState.FAILED

    def _wait_for_lease(self) -> Lease:
        either: tuple[Future[Any], ...] = (self._lease, self._stopped)
        wait(either, return_when=FIRST_COMPLETED)
        if self._task.cancelled or self._lease.cancelled():
            self._lease.cancel()
            self._lease.add_done_callback(_give_back)
            raise Cancelled
        return self._lease.result()

    def _stream(self, lease: Lease) -> None:
        self._context = lease.context
        body = chat_body(lease.model_id, list(self._ask.messages), self._ask.sampling)
        with self._attend(self._reading):
            self._meter = Meter(self._clock)
            self._phase = Phase.READING
            self._client.stream(lease, body, self._take, self._task)

    def _reading(self) -> Reading | None:
        meter = self._meter
        return None if meter is None else meter.reading()

    def _take(self, event: Event) -> None:
        self._task.check()
        assert self._meter is not None
        self._meter.feed(event)
        if isinstance(event, Delta):
            self._phase = Phase.WRITING
            self._add(self._splitter.feed(event.text, event.reasoning))
            self._keeper.note(self._kept.text, self._kept.reasoning)
        elif isinstance(event, Finish):
            self._finish = event.reason
        elif isinstance(event, StreamFault):
            self._fault = event

    def _add(self, piece: Piece) -> None:
        if piece != Piece():
            self._thought.note(piece)
            self._kept.add(piece)
            self._pieces.append(piece)

    def _figures(self) -> dict[str, Any]:
        """What was measured, by name; unknown figures are left out."""
        reading = self._reading()
        known: dict[str, Any] = {"finish": self._finish, "context": self._context, "thought_ms": self._thought.ms}
        if reading is not None:
            known |= {
                "source": reading.source,
                "decode_tps": reading.decode_tps,
                "prompt_tps": reading.prompt_tps,
                "ttft_ms": reading.ttft_ms,
                "context_used": reading.context_used,
                "output_tokens": reading.output_tokens,
            }
        return {name: value for name, value in known.items() if value is not None}


class _Thought:
    """How long a model thought: from its first thought to the first of its answer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began_s: float | None = None
        self._answer_s: float | None = None
        self.ms: float | None = None

    def note(self, piece: Piece) -> None:
        now_s = self._clock()
        if piece.restart and self._began_s is None:
            self._began_s, self._answer_s = self._answer_s, None
        if piece.reasoning and self._began_s is None:
            self._began_s = now_s
        if self._began_s is not None and self._answer_s is None:
            self.ms = (now_s - self._began_s) * 1000
        if piece.text and self._answer_s is None:
            self._answer_s = now_s


def failure_of(error: WeighbridgeError) -> Failure:
    """An error as it is kept with a message."""
    log = error.log if isinstance(error, EngineFailed) else ()
    return Failure(error.code, dict(error.values), tuple(log))


def _give_back(lease: Future[Lease]) -> None:
    if not lease.cancelled() and lease.exception() is None:
        lease.result().give_back()
