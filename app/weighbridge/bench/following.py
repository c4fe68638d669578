"""What the supervisor tells of one model while it is measured."""

from __future__ import annotations

import time

from weighbridge.base.errors import WeighbridgeError
from weighbridge.running.state import Running, State
from weighbridge.running.supervisor import Supervisor

PATIENCE_S, _LOOK_S = 2.0, 0.05
"""An answer that broke off is told some moments before it is known why its engine ended."""


class Following:
    """Follows `model_id` from now until `end`, which must be called."""

    def __init__(self, supervisor: Supervisor, model_id: str) -> None:
        self._supervisor = supervisor
        self._model_id = model_id
        self._began_s: float | None = None
        self.most_bytes: int | None = None
        self._unsubscribe = supervisor.subscribe(self._look)

    @property
    def running(self) -> Running | None:
        """As it stands now; None where it neither runs nor has failed."""
        return next((one for one in self._supervisor.running() if one.model_id == self._model_id), None)

    def load_ms(self, ready: Running) -> float | None:
        """From the start of the load until it was `ready`."""
        return None if self._began_s is None else (ready.since_s - self._began_s) * 1000

    def failure(self) -> WeighbridgeError | None:
        """Why the engine ended, where it did or does so in a moment."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            running = self.running
            if running is not None and running.error is not None:
                return running.error
            time.sleep(_LOOK_S)
        return None

    def end(self) -> None:
        """Follow no more."""
        self._unsubscribe()

    def _look(self) -> None:
        """Called on the supervisor's thread, at each change of what runs."""
        running = self.running
        if running is None:
            return
        if running.state is State.LOADING and self._began_s is None:
            self._began_s = running.since_s
        if running.memory_bytes is not None:
            self.most_bytes = max(self.most_bytes or 0, running.memory_bytes)
