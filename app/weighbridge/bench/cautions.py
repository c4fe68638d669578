"""What makes a comparison unfair, or its figures doubtful. Pure.

Each is a code of `base.explain` with its values: `names` are those of the columns that it is about, and `columns` the
same for a person, some with a figure; or `values`, what each has of something that should be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weighbridge.base.units import THIN, number, size
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
    """All there are: first those about what is compared, then those about single columns."""
    answered = [column for column in comparison.columns if column.turns]
    return (*_of_all(comparison, answered), *_of_each(comparison, answered))


def _of_all(comparison: Comparison, answered: Sequence[Column]) -> Iterator[Cause]:
    if comparison.not_interleaved:
        yield Cause("compare.no_room_for_all")
    if _far_apart([column.subject.parameters for column in answered]):
        yield Cause("compare.other_models")
    yield from _differing("compare.threads_differ", answered, lambda column: column.used("threads") or column.threads)
    yield from _differing("compare.context_differs", answered, lambda column: column.used("context"))
    yield from _differing("compare.prompt_differs", answered, lambda column: score(column).prompt_tokens)


def _of_each(comparison: Comparison, answered: Sequence[Column]) -> Iterator[Cause]:
    """One for each doubt, with all columns that it is about."""
    for code, told in _DOUBTS:
        words = {column.name: told(column, score(column)) for column in answered}
        doubted = {name: word for name, word in words.items() if word is not None}
        if doubted:
            yield Cause(code, {"columns": [_label(*one) for one in doubted.items()], "names": [*doubted]})
    changing = [column.name for column in answered if len({turn.text for turn in column.turns}) > 1]
    if comparison.fresh is Fresh.ASKED and changing:
        yield Cause("compare.not_repeated", {"columns": changing, "names": changing})


def _elsewhere(column: Column, figures: Score) -> str | None:
    del figures
    return column.subject.endpoint


def _busy(column: Column, figures: Score) -> str | None:
    del column
    return _percent(figures.busy) if figures.busy is not None and figures.busy > MOST_BUSY else None


def _in_company(column: Column, figures: Score) -> str | None:
    del figures
    return "" if any(turn.alone is False for turn in column.turns) else None


def _swapped(column: Column, figures: Score) -> str | None:
    del figures
    return size(column.held.swapped_bytes) if column.held.swapped_bytes else None


def _changed(column: Column, figures: Score) -> str | None:
    del figures
    return ", ".join(setting.name for setting in column.settings if setting.differs) or None


def _cached(column: Column, figures: Score) -> str | None:
    del column
    return "" if figures.warm else None


def _cache_untold(column: Column, figures: Score) -> str | None:
    del column
    return "" if figures.warm is None else None


def _counted(column: Column, figures: Score) -> str | None:
    del column
    return None if figures.by_engine and figures.read_by_engine else ""


def _short(column: Column, figures: Score) -> str | None:
    del column
    least = figures.output_tokens.least if figures.output_tokens is not None else LEAST_OUTPUT
    return number(least) if least < LEAST_OUTPUT else None


def _unsteady(column: Column, figures: Score) -> str | None:
    del column
    known = figures.decode_tps
    return _percent(known.width) if known is not None and known.width > MOST_SPREAD else None


_DOUBTS: Sequence[tuple[str, Callable[[Column, Score], str | None]]] = (
    ("compare.elsewhere", _elsewhere),
    ("compare.busy", _busy),
    ("compare.not_alone", _in_company),
    ("compare.swapped", _swapped),
    ("compare.changed", _changed),
    ("compare.cached", _cached),
    ("compare.cache_untold", _cache_untold),
    ("compare.counted", _counted),
    ("compare.short", _short),
    ("compare.unsteady", _unsteady),
)
"""Codes, and what tells whether one holds for a column: None where not, else a word beside its name ("": none)."""


def _differing(code: str, columns: Sequence[Column], value: Callable[[Column], object]) -> Iterator[Cause]:
    """One cause where the columns do not all have the same of something; what is not known differs from nothing."""
    told = {column.name: value(column) for column in columns}
    known = {name: one for name, one in told.items() if one is not None}
    if len(set(known.values())) > 1:
        yield Cause(code, {"values": [f"{name}: {_shown(one)}" for name, one in known.items()]})


def _shown(value: object) -> str:
    return number(value) if isinstance(value, int) else str(value)


def _label(name: str, word: str) -> str:
    return f"{name} ({word})" if word else name


def _percent(share: float) -> str:
    return f"{number(share * 100)}{THIN}%"


def _far_apart(counts: Sequence[int | None]) -> bool:
    known = [count for count in counts if count]
    return bool(known) and max(known) > min(known) * (1 + MOST_PARAMETERS)
