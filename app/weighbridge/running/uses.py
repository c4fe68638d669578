"""Writes down when models were last used, on a thread of its own: who lends them out must not wait for a disk."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from weighbridge.base.errors import WeighbridgeError
from weighbridge.library.marks import Marks
from weighbridge.library.model import Key, Model, key_of

LEAST_S = 20.0
"""A model that answers all the time is written down no more often."""

_log = logging.getLogger(__name__)


class UseRecorder:
    """Marks what is used in `marks`. `clock` gives seconds since 1970. `close` must be called."""

    def __init__(self, marks: Marks, clock: Callable[[], float] = time.time) -> None:
        self._marks = marks
        self._clock = clock
        self._told: dict[Key, float] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="uses")

    def used(self, model: Model) -> None:
        """To be called, from one thread, as `model` is loaded or about to answer. Returns at once and never raises."""
        now = self._clock()
        if abs(now - self._told.get(key_of(model), 0.0)) < LEAST_S:
            return
        self._told[key_of(model)] = now
        with suppress(RuntimeError):  # closed in between
            self._worker.submit(self._write, model, now)

    def close(self) -> None:
        """Finish what has begun."""
        self._worker.shutdown()

    def _write(self, model: Model, when_s: float) -> None:
        try:
            self._marks.used(model, when_s)
        except WeighbridgeError as error:
            _log.info("that %s was used is not kept: %s", model.id, error)
        except Exception:  # in a future that nobody looks at
            _log.exception("that %s was used is not kept", model.id)
