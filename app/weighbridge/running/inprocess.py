"""An engine whose library this program hosts itself: the worker's own HTTP loop, the session on a thread of ours.

There is no second process to talk to, and none that ends alone: a fault in the library ends this program. So it is the
user's choice for one load, and only what a process of its own has survived before is loaded so.
"""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable, Mapping

from weighbridge.base.errors import EngineFailed, Refused, WeighbridgeError
from weighbridge.library.model import Model
from weighbridge.running.cause import LOG_TAIL, failure
from weighbridge.running.life import GONE, Life
from weighbridge.running.log import LogRing
from weighbridge.running.precheck import check_files
from weighbridge.running.process import EngineProcess
from weighbridge.running.readiness import answers
from weighbridge.running.state import Running, State
from weighbridge_engines.api import HOST, Engine, Load, Session
from weighbridge_engines.hosting import Host
from weighbridge_engines.owner import OwnedSession

MOST_WORDS = 300
_POLL_S = 0.2
_SERVE_POLL_S = 0.05


def check_in_process(engine: Engine) -> None:
    """Raise Refused where the library of `engine` cannot be hosted here: it is not made for it, this is a release,
    whose Python takes no libraries, or the library is that of another environment.
    """
    if engine.open_here is None:
        raise Refused("engine.not_in_process", engine=engine.title)
    if getattr(sys, "frozen", False):
        raise Refused("engine.in_process_release", engine=engine.title)
    if engine.python is not None:
        raise Refused("engine.in_process_elsewhere", engine=engine.title, build=engine.build)


class Survived:
    """What was loaded by a process of its own, and wrote a token: by whom, what, and how. For several threads."""

    def __init__(self) -> None:
        self._loads: set[tuple[str, str | None, str, str]] = set()
        self._lock = threading.Lock()

    def add(self, engine: Engine, load: Load) -> None:
        """It has been loaded so."""
        with self._lock:
            self._loads.add(_told(engine, load))

    def __call__(self, engine: Engine, load: Load) -> bool:
        """Whether it has been loaded so before."""
        with self._lock:
            return _told(engine, load) in self._loads


def _told(engine: Engine, load: Load) -> tuple[str, str | None, str, str]:
    return engine.id, engine.version(), load.model, repr(load)


class EngineInProcess:
    """As EngineProcess, without one: `load` is tried in a process of its own first, unless it has `survived` that.

    Raises what `check_in_process` raises.
    """

    def __init__(
        self,
        engine: Engine,
        model: Model,
        load: Load,
        environment: Mapping[str, str],
        changed: Callable[[], None],
        survived: Survived,
    ) -> None:
        check_in_process(engine)
        self.key = secrets.token_urlsafe(24)
        self.way: None = None
        self.engine = engine
        self._model = model
        self._environment = environment
        self._survived = survived
        self._life = Life(engine, model, load, changed)
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"engine-{model.id}")
        self._thread.start()

    @property
    def log(self) -> LogRing:
        """The last lines of the library's log."""
        return self._life.log

    @property
    def running(self) -> Running:
        """All that is known of it, as it stands now. `memory_bytes` is unknown: it is this program's own."""
        return self._life.running

    @property
    def lives(self) -> bool:
        """False once it is closed."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ask for the end, in any state. Returns at once."""
        self._stopping.set()
        self._wake.set()

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def _run(self) -> None:
        try:
            check_files(self._model)
            if not self._survived(self.engine, self.running.load):
                self._try_elsewhere()
            if not self._stopping.is_set():
                self._host()
        except Exception as error:  # the library's and ours alike: whoever waits for this load is told
            if not self._stopping.is_set():
                self._life.fail(self._cause(error))
                return
        self._life.become(State.STOPPED, **GONE)

    def _try_elsewhere(self) -> None:
        """Load in a process of its own until it has shown a token. Raises what that fails with."""
        load = self.running.load
        trial = EngineProcess(self.engine, self._model, load, self._environment, self._wake.set)
        try:
            while trial.running.state is State.LOADING and not self._stopping.is_set():
                self._wake.wait(_POLL_S)
                self._wake.clear()
                self._life.publish(pid=trial.running.pid)
        finally:
            reached = trial.running
            trial.stop()
            trial.join()
            self._life.publish(pid=None)
        if reached.error is not None:
            raise reached.error
        if reached.state is State.READY:
            self._survived.add(self.engine, load)

    def _host(self) -> None:
        load = self.running.load
        server = Host(0, self.key, load, self.engine.capabilities)
        serving = threading.Thread(target=server.serve_forever, args=(_SERVE_POLL_S,), name=f"host-{self._model.id}")
        serving.start()
        session: OwnedSession | None = None
        try:
            session = OwnedSession(self._open, f"session-{self._model.id}")
            server.session = session
            self._serve(server.server_address[1])
        finally:
            server.shutdown()
            if session is not None:
                session.close()
            server.server_close()
            serving.join()

    def _open(self) -> Session:
        """On the session's own thread, while ours waits: so it is that thread that tells what it hears."""
        assert self.engine.open_here is not None
        return self.engine.open_here(self.running.load, lambda line: self._life.hear([line]), self._stopping.is_set)

    def _serve(self, port: int) -> None:
        if not answers(port, self.key, self.running.load, self.engine):
            raise EngineFailed("engine.silent", reason="no answer", engine=self.engine.title)
        url = f"http://127.0.0.1:{port}"
        self._life.become(State.READY, stage="ready", url=url, private_bytes=told_bytes(self.running))
        self._stopping.wait()
        self._life.become(State.STOPPING)

    def _cause(self, error: Exception) -> Exception:
        """What the library's log says of a load that failed tells more than its exception."""
        if isinstance(error, WeighbridgeError) or self.running.state is not State.LOADING:
            return error
        lines = self.log.lines()
        if self.engine.diagnose(lines, None) is not None:
            return failure(self.engine, lines, 0, ())
        reason = f"{type(error).__name__}: {error}"[:MOST_WORDS]
        return EngineFailed("engine.load_refused", lines[-LOG_TAIL:], engine=self.engine.title, reason=reason)


def told_bytes(running: Running) -> int | None:
    """What its end gives back of the system's memory, as the library told of it: all but a mapped file's pages."""
    held = running.held.get(HOST)
    if held is None:
        return None
    mapped = running.load.mapped is not False
    return sum(amount for name, amount in held.items() if not (mapped and name == "weights_bytes"))
