"""What makes a comparison unfair, or its figures doubtful. Pure.

Each is a code of `base.explain` with its values, among them the names of the columns that it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weighbridge.base.units import number
from weighbridge.bench.plan import Fresh
from weighbridge.bench.result import Column, Comparison
from weighbridge.bench.score import Score, score
from weighbridge.running.answered import LEAST_OUTPUT
from weighbridge_engines.api import Cause

MOST_BUSY = 0.1
"""The share of the processor that others may have before figures are doubted."""

MOST_SPREAD = 0.2
MOST_PARAMETERS = 0.05
"""How far turns of one column, and parameters of two that are the same model, may lie apart, as a share."""


def cautions(comparison: Comparison) -> tuple[Cause, ...]:
    """All there are: first those about all columns, then those about one."""
    answered = [column for column in comparison.columns if column.turns]
    return (*_of_all(comparison, answered), *(cause for column in answered for cause in _of_one(column, comparison)))


def _of_all(comparison: Comparison, answered: Sequence[Column]) -> Iterator[Cause]:
    if comparison.not_interleaved:
        yield Cause("compare.no_room_for_all")
    if _far_apart([column.subject.parameters for column in answered]):
        yield Cause("compare.other_models")
    yield from _differing("compare.threads_differ", answered, lambda column: column.used("threads") or column.threads)
    yield from _differing("compare.context_differs", answered, lambda column: column.used("context"))
    yield from _differing("compare.prompt_differs", answered, lambda column: score(column).prompt_tokens)


def _of_one(column: Column, comparison: Comparison) -> Iterator[Cause]:
    figures, name = score(column), column.name
    if column.subject.endpoint is not None:
        yield Cause("compare.elsewhere", {"column": name, "endpoint": column.subject.endpoint})
    if figures.busy is not None and figures.busy > MOST_BUSY:
        yield Cause("compare.busy", {"column": name, "percent": round(figures.busy * 100)})
    if any(turn.alone is False for turn in column.turns):
        yield Cause("compare.not_alone", {"column": name})
    if column.held.swapped_bytes:
        yield Cause("compare.swapped", {"column": name, "swapped_bytes": column.held.swapped_bytes})
    if any(setting.differs for setting in column.settings):
        changed = [setting.name for setting in column.settings if setting.differs]
        yield Cause("compare.changed", {"column": name, "settings": changed})
    yield from _of_cache(column, figures)
    yield from _of_turns(column, figures, comparison)


def _of_cache(column: Column, figures: Score) -> Iterator[Cause]:
    if figures.warm is None:
        yield Cause("compare.cache_untold", {"column": column.name})
    elif figures.warm:
        yield Cause("compare.cached", {"column": column.name})


def _of_turns(column: Column, figures: Score, comparison: Comparison) -> Iterator[Cause]:
    name = column.name
    if not (figures.by_engine and figures.read_by_engine):
        yield Cause("compare.counted", {"column": name})
    if figures.output_tokens is not None and figures.output_tokens.least < LEAST_OUTPUT:
        yield Cause("compare.short", {"column": name, "tokens": round(figures.output_tokens.least)})
    if figures.decode_tps is not None and figures.decode_tps.width > MOST_SPREAD:
        yield Cause("compare.unsteady", {"column": name, "percent": round(figures.decode_tps.width * 100)})
    if comparison.fresh is Fresh.ASKED and len({turn.text for turn in column.turns}) > 1:
        yield Cause("compare.not_repeated", {"column": name})


def _differing(code: str, columns: Sequence[Column], value: Callable[[Column], object]) -> Iterator[Cause]:
    """One cause where the columns do not all have the same of something; what is not known differs from nothing."""
    told = {column.name: value(column) for column in columns}
    known = {name: one for name, one in told.items() if one is not None}
    if len(set(known.values())) > 1:
        yield Cause(code, {"values": [f"{name}: {_shown(one)}" for name, one in known.items()]})


def _shown(value: object) -> str:
    return number(value) if isinstance(value, int) else str(value)


def _far_apart(counts: Sequence[int | None]) -> bool:
    known = [count for count in counts if count]
    return bool(known) and max(known) > min(known) * (1 + MOST_PARAMETERS)
