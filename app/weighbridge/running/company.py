"""What else the machine did while a model answered."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from weighbridge.hardware.load import LEAST_S, load_between, processor_times
from weighbridge.running.state import Running, State

if TYPE_CHECKING:
    from weighbridge.running.supervisor import Supervisor


@dataclass(frozen=True)
class Company:
    """`running` is the model at the end of its answer. `alone`: no other answered or was loaded meanwhile.

    `busy` is the share of the processor that others than the engine used, 0 to 1; None where it is not known, as after
    a very short time.
    """

    running: Running
    alone: bool
    busy: float | None


@dataclass(frozen=True)
class _Spent:
    """Seconds of all cores since the start of the machine: used by others than the engine, and in all."""

    at_s: float
    others_s: float
    whole_s: float


class Watch:
    """Made as the question is sent; `end` must be called, before the lease is given back. Each costs about 2 ms."""

    def __init__(self, supervisor: Supervisor, model_id: str) -> None:
        self._supervisor = supervisor
        self._model_id = model_id
        self._alone = True
        self._unsubscribe = supervisor.subscribe(self._look)
        self._look()
        self._before = _spent(self._running())

    def end(self) -> Company | None:
        """What was seen; None where the model runs no more."""
        self._unsubscribe()
        running = self._running()
        if running is None or running.state is not State.READY:
            return None
        return Company(running, self._alone, _busy(self._before, _spent(running)))

    def _look(self) -> None:
        """Called from any thread, at each change of what runs."""
        if not is_alone(self._model_id, self._supervisor.running()):
            self._alone = False

    def _running(self) -> Running | None:
        return next((one for one in self._supervisor.running() if one.model_id == self._model_id), None)


def is_alone(model_id: str, running: Iterable[Running]) -> bool:
    """Whether `model_id`, which answers, does not do so twice, and no other answers or is loaded."""
    return not any(
        one.in_flight > 1 if one.model_id == model_id else one.in_flight or one.state is State.LOADING
        for one in running
    )


def _busy(before: _Spent | None, after: _Spent | None) -> float | None:
    if before is None or after is None or after.at_s - before.at_s < LEAST_S:
        return None
    return load_between((before.others_s, before.whole_s), (after.others_s, after.whole_s))


def _spent(running: Running | None) -> _Spent | None:
    if running is None or running.pid is None:
        return None
    try:
        launcher = psutil.Process(running.pid)
        times = [process.cpu_times() for process in (launcher, *launcher.children(recursive=True))]
    except psutil.Error:
        return None
    busy_s, whole_s = processor_times()
    return _Spent(time.monotonic(), busy_s - sum(each.user + each.system for each in times), whole_s)
