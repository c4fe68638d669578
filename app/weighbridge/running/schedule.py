"""What to do next about the requests that wait: whom to let in, what to load, what to end. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weighbridge.running.state import State
from weighbridge_engines.api import Load


@dataclass(frozen=True)
class Wanted:
    """A request in the queue, oldest first.

    `load` is None where any load of the model will do. `need_bytes` is what loading it takes; None is unknown.
    `elsewhere`: it runs on no memory of ours, so that nothing has to go for it, and it waits for nothing. `only_load`:
    the model is to be there, and nobody asks it anything: it takes no slot.
    """

    model_id: str
    load: Load | None = None
    need_bytes: int | None = None
    elsewhere: bool = False
    only_load: bool = False


@dataclass(frozen=True)
class Occupied:
    """A model with a process (loading, ready or stopping).

    `memory_bytes` is what its end gives back; None is unknown. `elsewhere`: nothing, for it runs on no memory of ours.
    """

    model_id: str
    state: State
    load: Load
    in_flight: int = 0
    last_used_s: float = 0.0
    memory_bytes: int | None = None
    pinned: bool = False
    elsewhere: bool = False


@dataclass(frozen=True)
class Room:
    """Free memory in bytes (None: unknown). `settling`: some was given back just now and may not be seen yet."""

    available_bytes: int | None = None
    settling: bool = False


@dataclass(frozen=True)
class Steps:
    """Requests to let in, the one to load for, and those to attach for (places in the queue), and models to end."""

    admit: tuple[int, ...] = ()
    start: int | None = None
    stop: frozenset[str] = frozenset()
    attach: tuple[int, ...] = ()


def next_steps(queue: Sequence[Wanted], occupied: Sequence[Occupied], room: Room) -> Steps:
    """The steps possible now.

    A model is loaded where it fits into what is free; else idle ones that are not pinned make room, the least recently
    used first, and no more of them than needed; where a need is unknown, all of them. Nothing in flight is ever ended,
    and one load runs at a time; one that nobody waits for any more is ended for another. Where nothing is left to end
    the load is tried as it is: an estimate does not forbid. Once an older request waits for room, younger ones for
    other models are held back, so that a busy model cannot keep the others out for ever.
    """
    return _Round(queue, occupied, room).steps()


def expired(occupied: Iterable[Occupied], now_s: float, idle_s: float | None) -> frozenset[str]:
    """Models that nobody has used for `idle_s` seconds (None: for ever), and that are not pinned."""
    if idle_s is None:
        return frozenset()
    return frozenset(one.model_id for one in occupied if _may_go(one) and now_s - one.last_used_s >= idle_s)


def _may_go(one: Occupied) -> bool:
    return one.state is State.READY and not one.in_flight and not one.pinned


class _Round:
    """One pass over the queue."""

    def __init__(self, queue: Sequence[Wanted], occupied: Sequence[Occupied], room: Room) -> None:
        self._queue = queue
        self._by_id = {one.model_id: one for one in occupied}
        self._here = [one for one in occupied if not one.elsewhere]
        self._in_flight = {one.model_id: one.in_flight for one in occupied}
        self._room = room
        self._admit: list[int] = []
        self._attach: list[int] = []
        self._start: int | None = None
        self._stop: set[str] = set()
        self._held: set[str] = set()
        self._older_waits = False

    def steps(self) -> Steps:
        for place, wanted in enumerate(self._queue):
            self._consider(place, wanted)
        return Steps(tuple(self._admit), self._start, frozenset(self._stop), tuple(self._attach))

    def _consider(self, place: int, wanted: Wanted) -> None:
        there = self._by_id.get(wanted.model_id)
        if there is None and wanted.elsewhere:
            self._attach.append(place)
        elif there is None:
            self._bring_in(place, wanted)
        elif there.state is State.READY and wanted.load not in (None, there.load):
            self._held.add(wanted.model_id)
            if not self._in_flight[wanted.model_id]:
                self._stop.add(wanted.model_id)
        elif there.state is State.READY and self._open(there):
            self._in_flight[wanted.model_id] += not wanted.only_load
            self._admit.append(place)

    def _open(self, there: Occupied) -> bool:
        waits = self._older_waits and not there.elsewhere
        held = waits or there.model_id in self._held or there.model_id in self._stop
        return not held and self._in_flight[there.model_id] < there.load.slots

    def _bring_in(self, place: int, wanted: Wanted) -> None:
        if self._start is not None:
            self._older_waits = self._older_waits or self._queue[self._start].model_id != wanted.model_id
        elif self._stop or self._any(State.STOPPING):
            self._older_waits = True
        elif self._any(State.LOADING):
            self._stop.update(self._unwanted_loads())
        elif self._fits(wanted):
            self._start = place
        else:
            self._make_room(place, wanted)

    def _unwanted_loads(self) -> set[str]:
        """Models that load though all who asked for them are gone: they stand in the way."""
        asked_for = {wanted.model_id for wanted in self._queue}
        loading = {one.model_id for one in self._here if one.state is State.LOADING and not one.pinned}
        return loading - asked_for

    def _any(self, state: State) -> bool:
        return any(one.state is state for one in self._here)

    def _fits(self, wanted: Wanted) -> bool:
        short = _short_bytes(wanted, self._room)
        return not self._here or (short is not None and short <= 0)

    def _make_room(self, place: int, wanted: Wanted) -> None:
        """End what is needed and may go; wait for what is busy; else try."""
        idle = [one for one in self._here if _may_go(one) and not self._in_flight[one.model_id]]
        self._stop.update(_victims(idle, _short_bytes(wanted, self._room)))
        busy = any(self._in_flight[one.model_id] and not one.pinned for one in self._here)
        if self._stop or busy or self._room.settling:
            self._older_waits = True
        else:
            self._start = place


def _short_bytes(wanted: Wanted, room: Room) -> int | None:
    if wanted.need_bytes is None or room.available_bytes is None:
        return None
    return wanted.need_bytes - room.available_bytes


def _victims(idle: Sequence[Occupied], short_bytes: int | None) -> list[str]:
    """The least recently used whose memory makes up for `short_bytes`; all of them where something is unknown."""
    victims: list[str] = []
    for one in sorted(idle, key=lambda one: one.last_used_s):
        if short_bytes is not None and short_bytes <= 0:
            break
        victims.append(one.model_id)
        if short_bytes is not None:
            short_bytes -= one.memory_bytes or 0
    return victims
