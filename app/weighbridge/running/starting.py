"""How a load is started: in a process of its own, in this program where the load asks for that, or nowhere, where the
model is one of an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.base.errors import Refused
from weighbridge.library.model import Model
from weighbridge.running.endpoints.attachment import Attachment
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.running.inprocess import EngineInProcess, Survived
from weighbridge.running.life import Living
from weighbridge.running.process import EngineProcess, NeedBytes, not_known
from weighbridge_engines.api import Engine, Load


class Starter:
    """Starts engines, which inherit `environment`, and attaches to models of `endpoints`.

    It remembers what has survived a process of its own. An engine that is told of the cards here is told so by what
    `need_bytes` calculates.
    """

    def __init__(
        self, environment: Mapping[str, str], endpoints: Endpoints | None = None, need_bytes: NeedBytes = not_known
    ) -> None:
        self._environment = environment
        self._endpoints = endpoints
        self._need_bytes = need_bytes
        self._survived = Survived()

    def start(self, engine: Engine, model: Model, load: Load, changed: Callable[[], None]) -> Living:
        """Start `engine` with `load`, at once; `changed` is called after each change of what is known of it.

        Raises Refused where it is to be hosted here and cannot be, or where its endpoint is not to be asked, and
        NotFound where that is gone.
        """
        if model.remote is not None:
            if self._endpoints is None:
                raise Refused("engine.none_for_format", format=model.format, model=model.title)
            return Attachment(self._endpoints, model, load, changed)
        if load.in_process:
            return EngineInProcess(engine, model, load, self._environment, changed, self._survived)
        return EngineProcess(engine, model, load, self._environment, changed, self._need_bytes)
