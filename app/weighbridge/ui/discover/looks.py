"""Looking into repositories, one after the other: what the user waits for first, what is only counted after it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from weighbridge.base.errors import Cancelled, Unreachable, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.hub.allowance import Allowance, may_spend
from weighbridge.hub.looking import Sight, Spot
from weighbridge.hub.pace import asked_wait_s
from weighbridge.ui.background import Background

CALLS_OF_A_LOOK = 3
"""At most: what it is, which files it has, which branches."""

RESERVE = 60
"""Calls that are left for what the user asks himself: looks that only serve to count stop above it."""

RESERVE_OF_MORE = 250
"""The same for looks that make a count fuller: of the 500 that the Hub allows in five minutes, half are left."""

REST_S = 60.0
"""While the Hub cannot be reached, it is tried so seldom for what only serves to count."""

MOST_CHOICES = 500
"""Choices of one repository that are shown: no real one has half as many, and each costs time of the window."""
MOST_KEPT = 400
_SECOND_MS = 1000
_AWAY = frozenset({"hub.portal", "hub.proxy", "hub.stalled", "hub.unreachable"})
"""Failures that tell of no repository, but of the way there."""


class Looker(Protocol):
    """What is needed of `hub.looking.Looker`."""

    def look(self, spot: Spot, task: Task) -> Sight:
        """What there is at a spot."""

    def forget(self, spot: Spot) -> None:
        """Ask anew what there is at a spot."""


def place_of(spot: Spot) -> str:
    """What tells a spot from all others, whoever told of it."""
    return f"{spot.repo_id}@{spot.revision}"


class Looks(QObject):
    """`seen` tells a Spot and its Sight, `failed` a Spot and why: it is not looked at again until it is forgiven or
    forgotten. `changed`: what waits, or for what, is another.

    `allowance` is what the Hub still allows, None where that is unknown.
    """

    seen = Signal(object, object)
    failed = Signal(object, object)
    changed = Signal()

    def __init__(
        self,
        looker: Looker,
        allowance: Callable[[], Allowance | None],
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._looker = looker
        self._allowance = allowance
        self._background = background
        self._wanted: dict[str, Spot] = {}
        self._counted: dict[str, Spot] = {}
        self._more: dict[str, Spot] = {}
        self._sights: OrderedDict[str, Sight] = OrderedDict()
        self._now: tuple[Spot, Task] | None = None
        self._failures: dict[str, BaseException] = {}
        self._twice: set[str] = set()
        self._rests = False
        self._until_s = self._counts_from_s = 0.0
        self._told: tuple[str, tuple[str, ...]] = ("", ())
        self._clock = QTimer(self, interval=_SECOND_MS)
        self._clock.timeout.connect(self._tick)

    @property
    def sights(self) -> Mapping[str, Sight]:
        """What was seen, by `place_of` its spot."""
        return self._sights

    @property
    def now(self) -> str:
        """Where it looks now, by `place_of`; "" where it rests."""
        return "" if self._now is None else place_of(self._now[0])

    @property
    def wait_s(self) -> float:
        """How long until the Hub allows more; 0 where it does now."""
        return max(0.0, self._until_s - time.monotonic())

    @property
    def is_short(self) -> bool:
        """Whether so few calls are left that nothing is looked into only to be counted."""
        return bool(self._counted) and not may_spend(self._allowance(), CALLS_OF_A_LOOK, RESERVE)

    def failure(self, spot: Spot) -> BaseException | None:
        """Why the last look at a spot failed."""
        return self._failures.get(place_of(spot))

    def forgive(self, *spots: Spot) -> None:
        """These, or all, can be looked at again though that has failed."""
        for place in map(place_of, spots) if spots else list(self._failures):
            self._failures.pop(place, None)
            self._twice.discard(place)
        self._counts_from_s = 0.0

    def is_waiting(self, spot: Spot) -> bool:
        """Whether it will be looked at, or is just now."""
        return place_of(spot) in self._wanted or place_of(spot) == self.now

    def want(self, spots: Iterable[Spot]) -> None:
        """Look at these, before all that is only counted. In place of what was wanted before."""
        self._wanted, self._rests = self._fresh(spots), False
        self._go_on()

    def count(self, spots: Iterable[Spot], more: Iterable[Spot] = ()) -> None:
        """Look at these while nothing else waits, as far as the Hub allows, then at `more` while it allows plenty. In
        place of what was counted before.
        """
        self._counted, self._more, self._rests = self._fresh(spots), self._fresh(more), False
        self._go_on()

    def keep(self, sight: Sight) -> None:
        """Keep what was seen by somebody else."""
        self._sights[place_of(sight.spot)] = sight
        while len(self._sights) > MOST_KEPT:
            self._sights.popitem(last=False)

    def forget(self, spots: Iterable[Spot]) -> None:
        """Forget what was seen at these: they can be looked at anew, and then the Hub is asked."""
        for spot in spots:
            self._sights.pop(place_of(spot), None)
            self._failures.pop(place_of(spot), None)
            self._twice.discard(place_of(spot))
            self._looker.forget(spot)

    def look_anew(self) -> None:
        """What is looked at just now is looked at once more: somebody else asks from now on."""
        if self._now is not None:
            spot, task = self._now
            self._want_first(spot)
            task.cancel()
            self._looker.forget(spot)

    def rest(self) -> None:
        """Nothing more is looked at; what is under way comes to its end."""
        self._wanted, self._counted, self._more = {}, {}, {}
        self._rests = True
        self._clock.stop()

    def stop(self) -> None:
        """Nothing more is looked at, and what is under way is given up."""
        self.rest()
        if self._now is not None:
            self._now[1].cancel()

    def _fresh(self, spots: Iterable[Spot]) -> dict[str, Spot]:
        made = {place_of(spot): spot for spot in spots}
        known = self._sights.keys() | self._failures.keys()
        return {place: spot for place, spot in made.items() if place not in known}

    def _want_first(self, spot: Spot) -> None:
        self._wanted = {place_of(spot): spot, **self._wanted}

    def _go_on(self) -> None:
        if self._now is None and self.wait_s <= 0 and not self._rests:
            spot = self._next()
            if spot is not None:
                work = partial(_look, self._looker, spot)
                task = self._background.stream(work, partial(self._seen, spot), partial(self._failed, spot), "look")
                self._now = spot, task
        waits = bool(self._wanted or self._counted or self._more) and self._now is None and not self._rests
        if waits != self._clock.isActive():
            (self._clock.start if waits else self._clock.stop)()
        standing = self.now, tuple(self._wanted)
        if standing != self._told:  # whoever hears it asks again for what is in sight
            self._told = standing
            self.changed.emit()

    def _next(self) -> Spot | None:
        for place in list(self._wanted):
            return self._wanted.pop(place)
        for waiting, reserve in ((self._counted, RESERVE), (self._more, RESERVE_OF_MORE)):
            if time.monotonic() >= self._counts_from_s and may_spend(self._allowance(), CALLS_OF_A_LOOK, reserve):
                for place in list(waiting):
                    return waiting.pop(place)
        return None

    def _tick(self) -> None:
        """Some time went by: the Hub may allow more."""
        self._go_on()

    def _seen(self, spot: Spot, sight: Sight) -> None:
        self._now = None
        self.keep(sight)
        if isinstance(sight.unread, Unreachable) and place_of(spot) not in self._twice:
            self._twice.add(place_of(spot))  # for a moment nothing came: once more
            self._wait_as_asked(sight.unread)
            self._want_first(spot)
        self.seen.emit(spot, sight)
        self._go_on()

    def _wait_as_asked(self, error: BaseException) -> bool:
        """Whether the Hub asks to wait: then nothing is asked for as long."""
        wait_s = asked_wait_s(error)
        if wait_s is not None:
            self._until_s = time.monotonic() + wait_s
        return wait_s is not None

    def _failed(self, spot: Spot, error: BaseException) -> None:
        self._now = None
        if self._wait_as_asked(error):
            self._want_first(spot)
        elif not isinstance(error, Cancelled):
            self._failures[place_of(spot)] = error
            if isinstance(error, WeighbridgeError) and error.code in _AWAY:
                self._counts_from_s = time.monotonic() + REST_S
            self.failed.emit(spot, error)
        self._go_on()


def _look(looker: Looker, spot: Spot, task: Task) -> Sight:
    return looker.look(spot, task).within(MOST_CHOICES)
