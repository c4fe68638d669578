"""In which order models are offered to somebody who has not searched for anything yet. Pure.

What fits this machine at the user's usual context first; among these, what many take and what is new.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from weighbridge.choices.counts import Counts
from weighbridge.estimates.fit import Verdict

DAY_S = 86_400.0
FRESH_DAYS = 120.0
"""The time in which half of what being new is worth is gone."""

NEW_IS_WORTH = 2.0
"""What has just come stands as if it had been taken a hundred times as often."""

_ORDER = (Verdict.FITS, Verdict.TIGHT, Verdict.PARTIAL, Verdict.UNKNOWN, Verdict.NO)


class Popular(Protocol):
    """What is known of a model, as `hub.groups.Group` tells it; None is untold."""

    @property
    def downloads(self) -> int | None:
        """How often it was taken in the last month."""

    @property
    def changed_s(self) -> float | None:
        """When it was changed, in seconds since 1970."""


G = TypeVar("G", bound=Popular)


@dataclass(frozen=True)
class Suggestion(Generic[G]):
    """One model to offer, and why it stands where it does: `counts` of its choices (None: not weighed yet), how often
    it is taken, and how many days ago it was changed.
    """

    group: G
    counts: Counts | None
    downloads: int | None
    age_days: float | None

    @property
    def verdict(self) -> Verdict:
        """The best of its choices."""
        return self.counts.best if self.counts else Verdict.UNKNOWN


def suggestions(groups: Iterable[tuple[G, Counts | None]], now_s: float) -> tuple[Suggestion[G], ...]:
    """`groups`, each with how its choices stand, the first to be offered first. None is left out.

    `now_s` is the time in seconds since 1970.
    """
    made = [_suggestion(group, counted, now_s) for group, counted in groups]
    return tuple(sorted(made, key=lambda each: (_ORDER.index(each.verdict), -_worth(each))))


def _suggestion(group: G, counted: Counts | None, now_s: float) -> Suggestion[G]:
    age_days = None if group.changed_s is None else max(0.0, (now_s - group.changed_s) / DAY_S)
    return Suggestion(group, counted, group.downloads, age_days)


def _worth(one: Suggestion[G]) -> float:
    """Tenfold as many downloads count one."""
    fresh = 0.0 if one.age_days is None else NEW_IS_WORTH * 0.5 ** (one.age_days / FRESH_DAYS)
    return math.log10(1 + (one.downloads or 0)) + fresh
