"""What is asked of the Hub beside looks: searches, a reference, a row's whole header, a card. One of each at a time.

Another question of a kind ends the one before: its answer is told to nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import Protocol, TypeVar

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.hub.hits import Hit, Query
from weighbridge.ui.background import Background

MOST_HITS = 100

T = TypeVar("T")


class Kind(Enum):
    """What is asked; of each kind one question is open at most."""

    SEARCH = auto()
    OPEN = auto()
    HEADER = auto()
    CARD = auto()


class Finder(Protocol):
    """What is needed of `hub.searches.Searches`."""

    def find(self, query: Query, most: int = 100, task: Task | None = None) -> tuple[Hit, ...]:
        """What the Hub lists for `query`."""


class Asking:
    """Asks off the GUI thread, and calls back in it."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._open: dict[Kind, Task] = {}

    def is_open(self, kind: Kind) -> bool:
        """Whether a question of this kind is not answered yet."""
        return kind in self._open

    def ask(
        self, kind: Kind, work: Callable[[Task], T], done: Callable[[T], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Ask, in place of what is open of this kind. `work` minds its task, and ends at once where it is cancelled."""
        self.drop(kind)

        def answered(answer: T) -> None:
            if self._open.get(kind) is task:
                del self._open[kind]
                done(answer)

        def refused(error: BaseException) -> None:
            if self._open.get(kind) is task:
                del self._open[kind]
                if not isinstance(error, Cancelled):
                    failed(error)

        task = self._background.stream(work, answered, refused, f"discover-{kind.name.lower()}")
        self._open[kind] = task

    def drop(self, *kinds: Kind) -> None:
        """Give up what is open of these kinds."""
        for kind in kinds:
            task = self._open.pop(kind, None)
            if task is not None:
                task.cancel()

    def stop(self) -> None:
        """Give up all."""
        self.drop(*Kind)


def hits_of(finder: Finder, queries: Iterable[Query], task: Task) -> tuple[Hit, ...]:
    """What is found for all of `queries`, each repository once."""
    found: dict[str, Hit] = {}
    for query in queries:
        for hit in finder.find(query, MOST_HITS, task):
            found.setdefault(hit.id, hit)
    return tuple(found.values())
