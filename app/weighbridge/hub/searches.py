"""Searches, with what was found kept for some minutes: the same query again costs no call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from weighbridge.base.task import Task
from weighbridge.hub.abandon import abandonable
from weighbridge.hub.hits import Hit, Query
from weighbridge.hub.recent import Asker, Recent, anybody

KEPT_S = 600.0
KEPT_SEARCHES = 64


class Searched(Protocol):
    """What is asked here, as `client.Hub` answers."""

    def search(self, query: Query, most: int = 100, task: Task | None = None) -> tuple[Hit, ...]:
        """See `client.Hub`."""


@dataclass(frozen=True)
class _Answer:
    hits: tuple[Hit, ...]
    most: int
    until: float


class Searches:
    """The last searches, in memory, each for KEPT_S, as long as `asker` is the same. From any thread. `clock` is
    monotonic, in seconds.
    """

    def __init__(self, hub: Searched, clock: Callable[[], float] = time.monotonic, asker: Asker = anybody) -> None:
        self._hub, self._clock = hub, clock
        self._answers: Recent[Query, _Answer] = Recent(KEPT_SEARCHES, asker)

    def find(self, query: Query, most: int = 100, task: Task | None = None) -> tuple[Hit, ...]:
        """What `client.Hub.search` finds, or has found a moment ago. Raises Cancelled at once when `task` is cancelled,
        and what the Hub's answers mean; of these nothing is kept.
        """
        plain = _plain(query)
        known = self._known(plain, most)
        if known is not None:
            return known
        since, asker = self._clock(), self._answers.asker()
        hits = self._asked(plain, most, task)
        self._answers.keep(plain, _Answer(hits, most, since + KEPT_S), asker)
        return hits

    def forget(self) -> None:
        """Keep nothing: all is to be asked anew."""
        self._answers.clear()

    def _known(self, query: Query, most: int) -> tuple[Hit, ...] | None:
        answer = self._answers.get(query)
        if answer is None or answer.most < most or answer.until <= self._clock():
            return None
        return answer.hits[:most]

    def _asked(self, query: Query, most: int, task: Task | None) -> tuple[Hit, ...]:
        if task is None:
            return self._hub.search(query, most)
        return abandonable(lambda: self._hub.search(query, most, task), lambda _hits: None, task)


def _plain(query: Query) -> Query:
    """The same query, however it was typed: the Hub knows no case."""
    return replace(query, words=" ".join(query.words.split()).casefold())
