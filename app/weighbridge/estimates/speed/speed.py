"""A speed as data: a range with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from weighbridge.estimates.speed.pace import Pace
from weighbridge.estimates.speed.work import Work


class SpeedBasis(StrEnum):
    """Where a speed comes from: published constants, those put right by what ran here, or this model's own runs."""

    CALCULATED = "calculated"
    CORRECTED = "corrected"
    MEASURED = "measured"


@dataclass(frozen=True)
class Leg:
    """One place's part of a token: what it does, how fast it is, and how long it takes in the middle of the range."""

    work: Work
    pace: Pace
    seconds: float


@dataclass(frozen=True)
class Speed:
    """Tokens a second: the middle, and the range in which two of three machines lie.

    `legs` are the parts that it was reckoned from, none where it was measured alone. `runs` is how many runs here stand
    behind it. `depth` are the tokens in the cache that it is for.
    """

    low_tps: float
    mid_tps: float
    high_tps: float
    depth: int
    basis: SpeedBasis = SpeedBasis.CALCULATED
    legs: tuple[Leg, ...] = ()
    runs: int = 0

    def times(self, factor: float, spread: float) -> Speed:
        """The same, `factor` times as fast, within `spread` of the middle (0.1: from 1/1.1 to 1.1 times)."""
        mid = self.mid_tps * factor
        return replace(self, low_tps=mid / (1 + spread), mid_tps=mid, high_tps=mid * (1 + spread))


def spread_of(legs: Sequence[Leg], *, prefill: bool = False) -> float:
    """That of the whole: each leg's by its share of the time."""
    whole = sum(leg.seconds for leg in legs)
    spreads = [leg.pace.constants.prefill_spread if prefill else leg.pace.constants.spread for leg in legs]
    return sum(spread * leg.seconds for spread, leg in zip(spreads, legs, strict=True)) / whole
