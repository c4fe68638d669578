"""How a load is started: in a process of its own, or in this program where the load asks for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.library.model import Model
from weighbridge.running.inprocess import EngineInProcess, Survived
from weighbridge.running.life import Living
from weighbridge.running.process import EngineProcess
from weighbridge_engines.api import Engine, Load


class Starter:
    """Starts engines, which inherit `environment`. It remembers what has survived a process of its own."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._survived = Survived()

    def start(self, engine: Engine, model: Model, load: Load, changed: Callable[[], None]) -> Living:
        """Start `engine` with `load`, at once; `changed` is called after each change of what is known of it.

        Raises Refused where it is to be hosted here and cannot be.
        """
        if load.in_process:
            return EngineInProcess(engine, model, load, self._environment, changed, self._survived)
        return EngineProcess(engine, model, load, self._environment, changed)
