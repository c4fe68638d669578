"""One engine process, from its start to its end.

A thread of its own owns all that changes here; others read `running`, an immutable value, and call `stop`.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from queue import Empty, SimpleQueue

from weighbridge.base.errors import EngineFailed
from weighbridge.hardware.cpu import detect_cpu
from weighbridge.hardware.detect import detect
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.cause import failure
from weighbridge.running.child import Child
from weighbridge.running.command import command, environment
from weighbridge.running.life import GONE, Life
from weighbridge.running.log import LogRing
from weighbridge.running.precheck import check_files, check_template
from weighbridge.running.readiness import answers, free_port, healthy
from weighbridge.running.shares import Need, fitted
from weighbridge.running.state import Running, State
from weighbridge_engines.api import Engine, Load

PORT_TRIES = 3
_LOADING_POLL_S = 0.03
_READY_POLL_S = 1.0
_HIDDEN = "***"

NeedBytes = Callable[[Model, Load], int | None]
"""What a load needs in all; None where that is not known."""


def not_known(model: Model, load: Load) -> None:
    """The need of a load where nothing calculates it."""
    del model, load


class EngineProcess:
    """Checks the files of `model` and starts `engine` with `load`, at once. It inherits `environment`.

    `changed` is called, from the process's own thread, after each change of `running`. An engine that is told of the
    cards that are here is started by what `look` sees and `need_bytes` calculates then.
    """

    def __init__(
        self,
        engine: Engine,
        model: Model,
        load: Load,
        environment: Mapping[str, str],
        changed: Callable[[], None],
        need_bytes: NeedBytes = not_known,
        look: Callable[[], Machine] = detect,
    ) -> None:
        self.key = secrets.token_urlsafe(24)
        self.way: None = None
        self.engine = engine
        self._life = Life(engine, model, load, changed)
        self._model = model
        self._environment = environment
        self._need_bytes, self._look = need_bytes, look
        self._until_s: float | None = None
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._child: Child | None = None
        self._child_lock = threading.Lock()
        self._refusal: EngineFailed | None = None
        self._thread = threading.Thread(target=self._run, name=f"engine-{model.id}")
        self._thread.start()

    def stop(self) -> None:
        """Ask for the end, in any state. Returns at once."""
        self._stopping.set()
        with self._child_lock:
            if self._child is not None:
                self._child.stop()
        self._wake.set()

    @property
    def log(self) -> LogRing:
        """The last lines of its output."""
        return self._life.log

    @property
    def running(self) -> Running:
        """All that is known of it, as it stands now."""
        return self._life.running

    @property
    def lives(self) -> bool:
        """False once the engine is gone, also where that has not been told yet."""
        child = self._child
        return child is not None and child.lives

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self._live()
        except Exception as error:  # whatever it is, an engine that nobody follows must not live on
            self._end_child()
            self._life.fail(error)

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.stop()
            while self._child.ended() is None:
                time.sleep(_LOADING_POLL_S)

    def _live(self) -> None:
        check_files(self._model)
        check_template(self.engine, self.running.load)
        for attempt in range(PORT_TRIES):
            code = self._one_life(free_port())
            self._drain()
            if self._stopping.is_set():
                self._life.become(State.STOPPED, **GONE)
                return
            error = self._cause(code)
            if error.code != "engine.port_taken" or attempt == PORT_TRIES - 1:
                self._life.fail(error)
                return
            self.log.add("weighbridge: the port was taken in between, trying another")

    def _cause(self, code: int) -> EngineFailed:
        """Why the child ended. One that could not answer was ended by us: its refusal tells more than its end."""
        error = failure(self.engine, self.log.lines(), code, detect_cpu().extensions)
        if self._refusal is None or error.code == "engine.port_taken":  # then it was another program that refused
            return error
        return EngineFailed(self._refusal.code, error.log, engine=self.engine.title, **self._refusal.values)

    def _one_life(self, port: int) -> int:
        """Start a child, follow it to its end; its exit code."""
        self._life.begin_anew()
        load = self._fitted()
        argv = command(self.engine, load, port, bool(getattr(sys, "frozen", False)))
        variables = environment(self.engine, self.key, self._environment, load)
        limit_s = self.engine.dialect.ready_s
        self._until_s = None if limit_s is None else time.monotonic() + limit_s
        self._refusal = None
        with self._child_lock:
            child = Child(argv, variables, self._heard, self._wake.set, folder=self.engine.folder)
            self._child = child
        if self._stopping.is_set():
            child.stop()
        while (code := child.ended()) is None:
            self._follow(child, port)
        return code

    def _fitted(self) -> Load:
        """The load with what the engine is told of the cards as they are now; that is said in the log."""
        load, model = self.running.load, self._model
        made = fitted(self.engine, load, lambda: Need(model.size_bytes, self._need_bytes(model, load)), self._look)
        for name in made.extra.keys() - load.extra.keys():
            self.log.add(f"weighbridge: {name} = {made.extra[name]}, by what is here now")
        return made

    def _follow(self, child: Child, port: int) -> None:
        loading = self.running.state is State.LOADING and self._refusal is None
        self._wake.wait(_LOADING_POLL_S if loading or self._stopping.is_set() else _READY_POLL_S)
        self._wake.clear()
        self._drain()
        if loading and (refusal := self._hopeless(port)) is not None:
            self._refuse(child, refusal)
        if self._stopping.is_set():
            self._life.become(State.STOPPING)
        elif (
            loading
            and self._refusal is None
            and healthy(port, self.engine.dialect)
            and self._answers(child, port)
            and not self._stopping.is_set()
        ):
            self._drain()
            self._life.become(State.READY, stage="ready", url=f"http://127.0.0.1:{port}", **asdict(child.memory()))
        else:
            self._life.publish(pid=child.pid, **asdict(child.memory()))

    def _answers(self, child: Child, port: int) -> bool:
        if self.engine.own_key is not None:
            self.key = self.engine.own_key() or self.key
        try:
            return answers(port, self.key, self.running.load, self.engine)
        except EngineFailed as refusal:
            self._refuse(child, refusal)
            return False

    def _hopeless(self, port: int) -> EngineFailed | None:
        """Why a load that goes on will not be ready for us: it takes too long, or it took another port."""
        if self._life.port not in (None, port):
            return EngineFailed("engine.port_taken")
        if self._until_s is not None and time.monotonic() > self._until_s:
            return EngineFailed("program.slow", limit_s=int(self.engine.dialect.ready_s or 0))
        return None

    def _refuse(self, child: Child, refusal: EngineFailed) -> None:
        self._refusal = refusal
        child.stop()

    def _heard(self, line: str) -> None:
        """The key is in no log, whatever the engine prints of its own settings."""
        self._lines.put(line.replace(self.key, _HIDDEN))
        self._wake.set()

    def _drain(self) -> None:
        self._life.hear(self._waiting())

    def _waiting(self) -> Iterator[str]:
        while True:
            try:
                yield self._lines.get_nowait()
            except Empty:
                return
