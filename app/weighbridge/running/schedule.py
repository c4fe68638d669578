"""What to do next about the requests that wait: whom to let in, what to load, what to end. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.running.state import State
from weighbridge_engines.api import Load


@dataclass(frozen=True)
class Wanted:
    """A request in the queue, oldest first. `load` is None where any load of the model will do."""

    model_id: str
    load: Load | None = None


@dataclass(frozen=True)
class Occupied:
    """A model with a process (loading, ready or stopping)."""

    model_id: str
    state: State
    load: Load
    in_flight: int = 0
    last_used_s: float = 0.0


@dataclass(frozen=True)
class Steps:
    """Requests to let in and the one to load for (places in the queue), and models to end."""

    admit: tuple[int, ...] = ()
    start: int | None = None
    stop: frozenset[str] = frozenset()


def next_steps(queue: Sequence[Wanted], occupied: Sequence[Occupied], most: int) -> Steps:
    """The steps possible now, with at most `most` models loaded at once.

    Nothing in flight is ever ended. Once an older request waits for room, younger ones for other models are held back,
    so that a busy model cannot keep the others out for ever.
    """
    return _Round(queue, occupied, most).steps()


class _Round:
    """One pass over the queue."""

    def __init__(self, queue: Sequence[Wanted], occupied: Sequence[Occupied], most: int) -> None:
        self._queue = queue
        self._by_id = {one.model_id: one for one in occupied}
        self._in_flight = {one.model_id: one.in_flight for one in occupied}
        self._most = most
        self._admit: list[int] = []
        self._start: int | None = None
        self._stop: set[str] = set()
        self._held: set[str] = set()
        self._older_waits = False

    def steps(self) -> Steps:
        for place, wanted in enumerate(self._queue):
            self._consider(place, wanted)
        return Steps(tuple(self._admit), self._start, frozenset(self._stop))

    def _consider(self, place: int, wanted: Wanted) -> None:
        there = self._by_id.get(wanted.model_id)
        if there is None:
            self._bring_in(place, wanted)
        elif there.state is State.READY and wanted.load not in (None, there.load):
            self._held.add(wanted.model_id)
            self._end_if_idle(wanted.model_id)
        elif there.state is State.READY and self._open(there):
            self._in_flight[wanted.model_id] += 1
            self._admit.append(place)

    def _open(self, there: Occupied) -> bool:
        held = self._older_waits or there.model_id in self._held or there.model_id in self._stop
        return not held and self._in_flight[there.model_id] < there.load.slots

    def _bring_in(self, place: int, wanted: Wanted) -> None:
        excess = len(self._by_id) + 1 - self._most
        if self._start is None and excess <= 0:
            self._start = place
        elif self._start is None or self._queue[self._start].model_id != wanted.model_id:
            self._older_waits = True
            self._make_room(excess)

    def _make_room(self, excess: int) -> None:
        going = sum(one.state is State.STOPPING for one in self._by_id.values()) + len(self._stop)
        for one in sorted(self._by_id.values(), key=lambda one: one.last_used_s):
            if going < excess and self._end_if_idle(one.model_id):
                going += 1

    def _end_if_idle(self, model_id: str) -> bool:
        idle = (
            self._by_id[model_id].state is State.READY and not self._in_flight[model_id] and model_id not in self._stop
        )
        if idle:
            self._stop.add(model_id)
        return idle
