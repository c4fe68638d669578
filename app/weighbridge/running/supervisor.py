"""The one owner of all engine processes and of the queue of requests for them.

A thread of its own holds all state; every public call is a message to it, so there are no locks and no one looks and
then acts. What to do is decided by `schedule.next_steps`; this is the machinery around it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any

from weighbridge.base.errors import EngineFailed, Refused, WeighbridgeError
from weighbridge.base.listeners import Listeners
from weighbridge.hardware.detect import detect
from weighbridge.library.model import Model
from weighbridge.running.choose import Defaults, HoldWhole, alone, default_load, engine_for
from weighbridge.running.command import check_load
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.running.failures import Attempt, Failures
from weighbridge.running.lease import Lease
from weighbridge.running.life import Living
from weighbridge.running.scales import Scales, no_scales
from weighbridge.running.schedule import Occupied, Room, Steps, Wanted, expired, next_steps
from weighbridge.running.starting import Starter
from weighbridge.running.state import Running, State
from weighbridge_engines.api import Engine, Load

MOST_WAITING = 256
_log = logging.getLogger(__name__)
SETTLE_S, SETTLE_POLL_S = 5.0, 0.1
"""How long memory that an engine gave back may take to be seen as free, and how often it is looked at meanwhile."""
IDLE_POLL_S = 0.5


@dataclass
class _Place:
    """A model with a process, or an endpoint's, and how many requests it serves. Owned by the supervisor's thread."""

    process: Living
    attempt: Attempt
    in_flight: int = 0
    last_used_s: float = 0.0
    told: bool = False


@dataclass(frozen=True)
class _Want:
    """A request in the queue. `future` gets a Lease, or a Running where `only_load`."""

    model: Model
    load: Load | None
    future: Future[Any]
    only_load: bool


class Supervisor:
    """Loads models on demand, lends them out, ends them. `close` must be called; it ends every engine.

    `scales` weigh what fits beside what (without them: one model at a time). A model that nobody has used for `idle_s`
    seconds is ended (None: never). Engines inherit `environment` (None: ours). `loaded` is called once for each load
    that is ready, and `used` for each request as its model is about to answer it, both on the supervisor's thread.
    Models of `endpoints` are lent without a load: they take no room, and are counted as others are.
    """

    def __init__(
        self,
        engines: Mapping[str, Engine],
        defaults: Defaults,
        scales: Scales | None = None,
        idle_s: float | None = None,
        environment: Mapping[str, str] | None = None,
        loaded: Callable[[Model, Running], None] | None = None,
        used: Callable[[Model], None] | None = None,
        endpoints: Endpoints | None = None,
    ) -> None:
        self._engines = engines
        self._loaded, self._used = loaded, used
        self._defaults = defaults
        self._scales = scales or no_scales()
        self._idle_s = idle_s
        self._starter = Starter(os.environ if environment is None else environment, endpoints, self._scales.need_bytes)
        self._pinned: set[str] = set()
        self._weighed: dict[str, tuple[Load, int]] = {}
        self._settling_until_s = 0.0
        self._positions: Mapping[int, int] = {}
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._places: dict[str, _Place] = {}
        self._failed: dict[str, Running] = {}
        self._failures = Failures(self._scales.available_bytes)
        self._queue: list[_Want] = []
        self._ending: list[tuple[str, Future[None]]] = []
        self._snapshot: tuple[Running, ...] = ()
        self._listeners: Listeners[[]] = Listeners()
        self._closing = False
        self._sending = threading.RLock()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="supervisor")
        self._thread.start()

    def default_load(self, model: Model) -> Load:
        """How `model` is loaded unless told otherwise."""
        return default_load(model, self._defaults)

    def plain_load(self, model: Model) -> Load:
        """The same without the model's preset."""
        return default_load(model, replace(self._defaults, in_preset=alone))

    def use_context(self, context: int) -> None:
        """The context length, in tokens, of loads from now on."""
        self._defaults = replace(self._defaults, context=context)

    def use_cards(self, on_cards: HoldWhole) -> None:
        """What tells whether cards here hold a model whole, for loads from now on. It is called from any thread."""
        self._defaults = replace(self._defaults, on_cards=on_cards)

    def lease(self, model: Model, load: Load | None = None) -> Future[Lease]:
        """A lease on `model`, loaded first where need be; with `load`, loaded just so.

        Cancelling the future leaves the queue.

        The future fails with EngineFailed where the load fails, and with Refused where no engine can or the queue is
        full. A load that failed and would fail so again is not made again: it fails at once, as before.
        """
        return self._want(model, load, only_load=False)

    def load(self, model: Model, load: Load) -> Future[Running]:
        """Load `model` as `load` says (again, if it is loaded otherwise). The future is done once it is ready."""
        return self._want(model, load, only_load=True)

    def pin(self, model_id: str, pinned: bool) -> None:
        """Keep a model loaded: it is never ended to make room or for being idle. `stop` still ends it."""
        self._send(lambda: self._set_pinned(model_id, pinned))

    def use_idle_limit(self, idle_s: float | None) -> None:
        """End models that nobody has used for so many seconds; None: never."""
        self._send(lambda: self._set_idle_limit(idle_s))

    def would_end(self, model: Model, load: Load) -> Future[tuple[str, ...]]:
        """The models that would have to go for `model` to be loaded as `load` says, if it were asked for now."""
        future: Future[tuple[str, ...]] = Future()
        self._send(lambda: self._tell_going(future, model, load))
        return future

    def position(self, future: Future[Any]) -> int | None:
        """The place of a request in the queue, from 1; None where it does not wait any more."""
        return self._positions.get(id(future))

    def stop(self, model_id: str) -> Future[None]:
        """End a model, also while it loads or answers; requests that wait for it fail.

        The future is done once it is gone.
        """
        future: Future[None] = Future()
        self._send(lambda: self._end(model_id, future))
        return future

    def running(self) -> tuple[Running, ...]:
        """All that loads, runs, stops, or has failed since it was last asked for."""
        return self._snapshot

    def log(self, model_id: str) -> tuple[str, ...]:
        """The last lines of the model's engine, running or failed; empty where there is none."""
        place = self._places.get(model_id)
        if place is not None:
            return place.process.log.lines()
        failed = self._failed.get(model_id)
        return failed.log if failed else ()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called, from another thread, after each change. Returns what ends that."""
        return self._listeners.add(listener)

    def close(self) -> None:
        """End everything and wait for it. Later requests fail."""
        self._send(self._begin_closing)
        self._thread.join()

    def _want(self, model: Model, load: Load | None, *, only_load: bool) -> Future[Any]:
        future: Future[Any] = Future()
        future.add_done_callback(lambda done: self._send(self._tidy) if done.cancelled() else None)
        self._send(lambda: self._enqueue(_Want(model, load, future, only_load)))
        return future

    def _send(self, message: Callable[[], None]) -> None:
        """Have it done by the supervisor's thread; where that has ended, here, for then nobody else would."""
        with self._sending:
            if self._over:
                message()
            else:
                self._inbox.put(message)

    # All below runs on the supervisor's thread.

    def _run(self) -> None:
        while not self._closing or self._places:
            message = self._next_message()
            try:
                message()
                self._reap()
                self._act()
                self._publish()
            except Exception:  # one bad message must not leave all the others waiting for ever
                _log.exception("the supervisor failed at a message")
        self._answer_the_rest()

    def _next_message(self) -> Callable[[], None]:
        try:
            return self._inbox.get(timeout=self._patience_s())
        except Empty:
            return _nothing

    def _patience_s(self) -> float | None:
        """How long nothing needs to be looked at: while memory settles and while something may expire, not for ever."""
        now_s = time.monotonic()
        if self._queue and now_s < self._settling_until_s:
            return SETTLE_POLL_S
        if self._idle_s is None or not self._places:
            return None
        oldest_s = min(place.last_used_s for place in self._places.values())
        return max(IDLE_POLL_S, oldest_s + self._idle_s - now_s)

    def _set_pinned(self, model_id: str, pinned: bool) -> None:
        if pinned:
            self._pinned.add(model_id)
        else:
            self._pinned.discard(model_id)

    def _set_idle_limit(self, idle_s: float | None) -> None:
        self._idle_s = idle_s

    def _tell_going(self, future: Future[tuple[str, ...]], model: Model, load: Load) -> None:
        if future.set_running_or_notify_cancel():
            future.set_result(self._going_for(model, load))

    def _going_for(self, model: Model, load: Load) -> tuple[str, ...]:
        steps = next_steps([self._wanted(_Want(model, load, Future(), True))], self._occupied(), self._room())
        return tuple(sorted(steps.stop - {model.id}))

    def _wanted(self, want: _Want) -> Wanted:
        if want.model.remote is not None:
            return Wanted(want.model.id, want.load, 0, elsewhere=True, only_load=want.only_load)
        load = want.load or self.default_load(want.model)
        measured_load, measured_bytes = self._weighed.get(want.model.id, (None, None))
        need_bytes = measured_bytes if measured_load == load else self._scales.need_bytes(want.model, load)
        return Wanted(want.model.id, want.load, need_bytes, only_load=want.only_load)

    def _room(self) -> Room:
        return Room(self._scales.available_bytes(), time.monotonic() < self._settling_until_s)

    def _occupied(self) -> list[Occupied]:
        return [_occupied(place, model_id in self._pinned) for model_id, place in self._places.items()]

    def _enqueue(self, want: _Want) -> None:
        if self._closing:
            _fail(want.future, EngineFailed("engine.stopped", model=want.model.title))
        elif len(self._queue) >= MOST_WAITING:
            _fail(want.future, Refused("queue.full", waiting=len(self._queue), limit=MOST_WAITING))
        elif (error := self._sure_failure(want)) is not None:
            _fail(want.future, error)
        else:
            self._failed.pop(want.model.id, None)
            self._queue.append(want)

    def _sure_failure(self, want: _Want) -> WeighbridgeError | None:
        """How a load for `want` would fail again, where that is sure. A load that is wanted as such is always tried,
        and so is a server elsewhere, which may be another one by now.
        """
        model = want.model
        if model.remote is not None:
            return None
        if want.only_load:
            self._failures.forget(model.id)
        if model.id in self._places or not self._failures.has(model.id):
            return None
        load = want.load or self.default_load(model)
        try:
            engine = engine_for(model, self._engines.values(), load, detect)
        except WeighbridgeError:
            return None
        return self._failures.sure(model, load, engine)

    def _tidy(self) -> None:
        self._queue = [want for want in self._queue if not want.future.cancelled()]

    def _end(self, model_id: str, future: Future[None]) -> None:
        self._drop_waiting(model_id, EngineFailed("engine.stopped", model=model_id))
        self._failed.pop(model_id, None)
        place = self._places.get(model_id)
        if place is None:
            _done(future)
        else:
            self._ending.append((model_id, future))
            place.process.stop()

    def _begin_closing(self) -> None:
        self._closing = True
        for want in self._queue:
            _fail(want.future, EngineFailed("engine.stopped", model=want.model.title))
        self._queue = []
        for place in self._places.values():
            place.process.stop()

    def _answer_the_rest(self) -> None:
        with self._sending:
            while not self._inbox.empty():
                self._inbox.get()()
            self._over = True

    def _reap(self) -> None:
        """Take out the processes that have ended, and tell those who waited for them."""
        for model_id, place in list(self._places.items()):
            running = place.process.running
            if running.state not in (State.STOPPED, State.FAILED):
                continue
            place.process.join()
            del self._places[model_id]
            if place.process.way is None:  # what is elsewhere gives no memory back
                self._settling_until_s = time.monotonic() + SETTLE_S
            if running.state is State.FAILED and running.error is not None:
                self._failed[model_id] = replace(running, log=place.process.log.lines())
                if running.stage != "ready":  # what died in use is loaded again for those who wait
                    self._failures.keep(model_id, place.attempt, running.error)
                    self._drop_waiting(model_id, running.error)
            self._finish_ending(model_id)

    def _finish_ending(self, model_id: str) -> None:
        for waiting_for, future in self._ending:
            if waiting_for == model_id:
                _done(future)
        self._ending = [pair for pair in self._ending if pair[0] != model_id]

    def _drop_waiting(self, model_id: str, error: WeighbridgeError) -> None:
        for want in self._queue:
            if want.model.id == model_id:
                _fail(want.future, error)
        self._queue = [want for want in self._queue if want.model.id != model_id]

    def _act(self) -> None:
        occupied = self._occupied()
        steps = self._steps(occupied) if self._queue else Steps()
        admitted = [self._queue[place] for place in steps.admit]
        unused = expired(occupied, time.monotonic(), self._idle_s) - {want.model.id for want in admitted}
        for model_id in steps.stop | unused:
            self._places[model_id].process.stop()
        starting = [*steps.attach, *(() if steps.start is None else (steps.start,))]
        for want in [self._queue[place] for place in starting]:
            if want.model.id not in self._places:
                self._start(want)
        self._queue = [want for want in self._queue if want not in admitted]
        for want in admitted:
            self._admit(want)
            self._tell(want.model)

    def _steps(self, occupied: list[Occupied]) -> Steps:
        """Weighing reads the system's files: it is left out where every model that is asked for is loaded."""
        if all(want.model.id in self._places for want in self._queue):
            wanted = [Wanted(want.model.id, want.load, only_load=want.only_load) for want in self._queue]
            return next_steps(wanted, occupied, Room())
        return next_steps([self._wanted(want) for want in self._queue], occupied, self._room())

    def _start(self, want: _Want) -> None:
        model, load = want.model, want.load or self.default_load(want.model)
        try:
            engine = engine_for(model, self._engines.values(), load, detect)
            check_load(engine, load)
            attempt = self._failures.attempt(model, load, engine)
            process = self._starter.start(engine, model, load, lambda: self._inbox.put(_nothing))
        except WeighbridgeError as error:
            self._drop_waiting(model.id, error)
        except Exception as error:  # a fault of an engine's own code must not keep those who ask for ever
            _log.exception("no engine could be started for %s", model.id)
            self._drop_waiting(model.id, WeighbridgeError("internal", kind=type(error).__name__))
        else:
            self._failed.pop(model.id, None)
            self._places[model.id] = _Place(process, attempt, last_used_s=time.monotonic())

    def _admit(self, want: _Want) -> None:
        if not want.future.set_running_or_notify_cancel():
            return
        place = self._places[want.model.id]
        place.last_used_s = time.monotonic()  # a load may take longer than a model may be unused
        running = place.process.running
        if running.memory_bytes is not None:
            self._weighed[want.model.id] = (running.load, running.memory_bytes)
        if want.only_load or running.url is None:
            want.future.set_result(running)
            return
        place.in_flight += 1
        give_back = lambda: self._send(lambda: self._returned(place))  # noqa: E731 - one use
        engine = place.process.engine
        lease = Lease(
            want.model.id,
            running.url,
            place.process.key,
            running.slot_context,
            give_back,
            engine,
            running.load,
            place.process.way,
        )
        want.future.set_result(lease)

    def _tell(self, model: Model) -> None:
        place = self._places[model.id]
        if self._used is not None:
            self._used(model)
        if self._loaded is not None and not place.told and model.remote is None:
            place.told = True
            self._loaded(model, place.process.running)

    def _returned(self, place: _Place) -> None:
        place.in_flight -= 1
        place.last_used_s = time.monotonic()

    def _publish(self) -> None:
        waiting = [want.model.id for want in self._queue]
        self._positions = {id(want.future): place for place, want in enumerate(self._queue, 1)}
        alive = tuple(
            replace(
                place.process.running,
                in_flight=place.in_flight,
                waiting=waiting.count(model_id),
                pinned=model_id in self._pinned,
            )
            for model_id, place in self._places.items()
        )
        snapshot = (*alive, *self._failed.values())
        if snapshot != self._snapshot:
            self._snapshot = snapshot
            self._listeners.tell()


def _occupied(place: _Place, pinned: bool) -> Occupied:
    running = place.process.running
    ready = running.state is State.READY
    return Occupied(
        model_id=running.model_id,
        # An engine that died a moment ago is lent to nobody; that it ended is told soon.
        state=State.STOPPING if ready and not place.process.lives else running.state,
        load=running.load,
        in_flight=place.in_flight,
        last_used_s=place.last_used_s,
        memory_bytes=running.private_bytes,
        pinned=pinned,
        elsewhere=place.process.way is not None,
    )


def _fail(future: Future[Any], error: WeighbridgeError) -> None:
    if future.set_running_or_notify_cancel():
        future.set_exception(error)


def _done(future: Future[None]) -> None:
    if future.set_running_or_notify_cancel():
        future.set_result(None)


def _nothing() -> None:
    """A message that only wakes."""
