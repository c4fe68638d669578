"""Makes an observation of each answer that says how fast the machine is, on a thread of its own."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.listeners import Listeners
from weighbridge.estimates.speed.speeds import Speeds
from weighbridge.library.model import Model
from weighbridge.running.answered import Answered, worth_keeping
from weighbridge.running.speed_observations import SpeedObservation, SpeedObservations, speed_situation
from weighbridge.running.state import Running
from weighbridge_engines.api import HOST

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Calculated:
    """What is calculated for an answer, and the bandwidths that it rests on. `mixed`: the model has experts."""

    bandwidths: Mapping[str, float] = field(default_factory=dict)
    mixed: bool = False
    speeds: Speeds = field(default_factory=Speeds)


Calculate = Callable[[Model, Running, int, int], Calculated]
"""For a model as it runs, with so many tokens in the cache, and for a prompt of so many."""


class SpeedRecorder:
    """`calculate` and `build` are called on its thread; `build` gives an engine's version and the names of its devices,
    or None where that is not known. `cores` are those of the processor; None: all. `close` must be called.
    """

    def __init__(
        self,
        observations: SpeedObservations,
        calculate: Calculate,
        build: Callable[[Running], tuple[str | None, tuple[str, ...]] | None],
        cores: int | None = None,
    ) -> None:
        self._observations = observations
        self._calculate = calculate
        self._build = build
        self._cores = cores or os.cpu_count() or 1
        self._listeners: Listeners[[]] = Listeners()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="speeds")

    def subscribe(self, listener: Callable[[], object]) -> None:
        """Have `listener` called, from the recorder's thread, after each answer that was kept."""
        self._listeners.add(listener)

    def answered(self, model: Model, running: Running, answered: Answered) -> None:
        """To be called once for each answer, from any thread. Returns at once and never raises."""
        kept = worth_keeping(answered, _threads(running), self._cores)
        if kept is not None:
            with suppress(RuntimeError):  # closed in between
                self._worker.submit(self._record, model, running, kept)

    def close(self) -> None:
        """Finish what has begun."""
        self._worker.shutdown()

    def _record(self, model: Model, running: Running, kept: Answered) -> None:
        try:
            build = self._build(running)
            if build is None:
                return
            now = speed_situation(model, running.load, running.engine_id, *build)
            calculated = self._calculate(model, running, kept.depth, kept.prompt_alike)
            writing, reading = calculated.speeds.decode, calculated.speeds.prefill
            one = SpeedObservation(
                situation=now,
                mixed=calculated.mixed,
                depth=kept.depth,
                decode_tps=kept.decode_tps,
                prompt_tokens=kept.prompt_read,
                prefill_tps=kept.prompt_tps,
                calculated_decode_tps=writing.mid_tps if writing and kept.decode_tps else None,
                calculated_prefill_tps=reading.mid_tps if reading and kept.prompt_tps else None,
                busy=kept.busy,
                at=time.time(),
                bandwidths=calculated.bandwidths,
            )
            self._observations.keep(one)
            self._listeners.tell()
        except WeighbridgeError as error:
            _log.info("the answer of %s was not observed: %s", model.id, error)
        except Exception:  # in a future that nobody looks at
            _log.exception("the answer of %s was not observed", model.id)


def _threads(running: Running) -> int | None:
    """How many threads of the processor computed; None where a card held a part."""
    return None if any(device != HOST for device in running.held) else running.load.threads
