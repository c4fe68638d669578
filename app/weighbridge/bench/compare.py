"""How one column stands to another. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.bench.result import Column
from weighbridge.bench.score import Sameness, Spread, sameness, score

ALIKE = 0.03
"""Two figures that differ by less are the same."""


@dataclass(frozen=True)
class Ratio:
    """So many `times` the other's. `clear`: even the ends of the two ranges lie so; None where a turn alone was taken,
    which knows no range.
    """

    times: float
    clear: bool | None

    @property
    def alike(self) -> bool:
        """Whether nobody can tell the two from each other."""
        return self.clear is False or abs(self.times - 1) < ALIKE


@dataclass(frozen=True)
class Verdict:
    """`column` beside `baseline`, by their places. A ratio is None where one of its figures is unknown."""

    column: int
    baseline: int
    writing: Ratio | None
    reading: Ratio | None
    first_token: Ratio | None
    memory: Ratio | None
    answer: Sameness


def verdicts(columns: Sequence[Column]) -> tuple[Verdict, ...]:
    """Each column that answered beside the first that did."""
    answered = [place for place, column in enumerate(columns) if column.turns]
    return tuple(verdict(columns, place, answered[0]) for place in answered[1:])


def verdict(columns: Sequence[Column], place: int, baseline: int) -> Verdict:
    """One beside another. Their answers are those of their first turns, which have exactly the same prompt."""
    one, other = columns[place], columns[baseline]
    mine, theirs = score(one), score(other)
    return Verdict(
        column=place,
        baseline=baseline,
        writing=ratio(mine.decode_tps, theirs.decode_tps),
        reading=ratio(mine.prompt_tps, theirs.prompt_tps),
        first_token=ratio(mine.ttft_ms, theirs.ttft_ms),
        memory=_share(one.held.total_bytes, other.held.total_bytes),
        answer=sameness(one.turns[0], other.turns[0]),
    )


def ratio(mine: Spread | None, theirs: Spread | None) -> Ratio | None:
    """Of the two middles."""
    if mine is None or theirs is None or not theirs.median:
        return None
    single = min(mine.count, theirs.count) < 2
    apart = mine.least > theirs.most or mine.most < theirs.least
    return Ratio(mine.median / theirs.median, None if single else apart)


def _share(mine_bytes: int | None, theirs_bytes: int | None) -> Ratio | None:
    return Ratio(mine_bytes / theirs_bytes, None) if mine_bytes and theirs_bytes else None
