"""A model of an endpoint while it is lent: no process, no memory; ready once its server says that it can be asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from weighbridge.library.model import Model, Reach
from weighbridge.running.endpoints.asking import Asker, Failed
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.running.endpoints.presets import Ready
from weighbridge.running.endpoints.way import failed
from weighbridge.running.life import GONE, Life
from weighbridge.running.log import LogRing
from weighbridge.running.state import Running, Setting, State
from weighbridge_engines.api import Load

JOIN_S = 0.5
"""How long the end waits for a question to end that was cut: one that is only connecting cannot be cut."""

_ONE_TOKEN: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "chat": ("/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}),
    "embedding": ("/embeddings", {"input": "Hi"}),
    "rerank": ("/rerank", {"query": "Hi", "documents": ["Hi"]}),
}


class Attachment:
    """As EngineProcess, of what runs elsewhere. Its server is asked by a thread of its own, which ends with the answer.

    It ends where its endpoint is changed or removed, so that the next request goes where that is now, and where a
    connection is lost, so that the next one asks anew; requests that are under way go on. `changed` is called after
    each change of `running`, from whichever thread. Raises what `Endpoints.attach` raises.
    """

    def __init__(self, endpoints: Endpoints, model: Model, load: Load, changed: Callable[[], None]) -> None:
        attached = endpoints.attach(model)
        self.way = replace(attached.way, lost=self._end)
        self.key, self.engine = attached.way.key, attached.engine
        self._attached = attached
        self._model = model
        self._life = Life(attached.engine, model, load, changed)
        self._asker = Asker(attached.endpoint, attached.way)
        self._stopping = False
        self._lock = threading.Lock()
        self._endpoints = endpoints
        self._leave: Callable[[], None] = lambda: None  # a change may be told before `subscribe` has returned
        self._leave = endpoints.subscribe(self._look)
        self._thread = threading.Thread(target=self._run, name=f"endpoint-{attached.endpoint.id}", daemon=True)
        self._thread.start()

    @property
    def log(self) -> LogRing:
        """Nothing: its server's log is elsewhere."""
        return self._life.log

    @property
    def running(self) -> Running:
        """All that is known of it, as it stands now. It takes no memory here."""
        return self._life.running

    @property
    def lives(self) -> bool:
        """False once it is stopped."""
        return not self._stopping

    def stop(self) -> None:
        """The end, in any state: what is being asked of the server is cut. Returns at once."""
        self._end()
        self.way.stop()

    def join(self) -> None:
        """Wait for the end, but not for a server that may never answer: there is nothing here that it could hold."""
        self._thread.join(JOIN_S)

    def _look(self) -> None:
        if not self._endpoints.stands(self._attached.endpoint):
            self._end()

    def _end(self) -> None:
        self._leave()
        with self._lock:
            self._stopping = True
            if self.running.state is not State.FAILED:
                self._life.become(State.STOPPED, **GONE)
        self._asker.cut()

    def _run(self) -> None:
        self._look()  # it may have been changed since it was read
        error: Exception | None = None
        try:
            self._check()
        except Failed as fault:
            error = failed(fault.cause)
        except Exception as other:  # whoever waits for this model is told
            error = other
        if error is not None:
            self._leave()
        with self._lock:
            if not self._stopping:
                self._tell(error)

    def _tell(self, error: Exception | None) -> None:
        if error is not None:
            self._life.fail(error)
        else:
            told = () if self._context is None else (Setting("context", None, self._context),)
            url = self._attached.endpoint.origin
            self._life.become(State.READY, stage="ready", url=url, settings=told)

    def _check(self) -> None:
        """What the preset says; no token of what is hosted, for it may be paid for."""
        endpoint = self._attached.endpoint
        ready = endpoint.preset.ready
        if ready is Ready.TOKEN and self._may_cost:
            ready = Ready.MODELS
        if ready is Ready.HEALTH:
            self._asker.check(endpoint.preset.health)
        elif ready is Ready.MODELS:
            self._asker.check(f"{endpoint.base_path}/models")
        elif ready is Ready.TOKEN:
            route, body = _ONE_TOKEN[self.running.load.task]
            self._asker.check(f"{endpoint.base_path}{route}", {**body, "model": self.running.load.model})

    @property
    def _context(self) -> int | None:
        return None if self._model.remote is None else self._model.remote.context

    @property
    def _may_cost(self) -> bool:
        return self._model.remote is None or self._model.remote.reach is Reach.INTERNET
