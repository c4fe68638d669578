"""Many turns as few figures, and where two answers part. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from weighbridge.bench.result import Column, Turn


@dataclass(frozen=True)
class Spread:
    """The middle of some measurements, and their ends."""

    median: float
    least: float
    most: float
    count: int

    @property
    def width(self) -> float:
        """How far the ends lie from each other, as a share of the middle."""
        return (self.most - self.least) / self.median if self.median else 0.0


@dataclass(frozen=True)
class Score:
    """A column in figures. `warm`: the prompt was known from before at every turn, so that `ttft_ms` and `prompt_tps`
    are those of a prompt read before; None where that is not told. `busy` is the most that others had of the processor.
    """

    decode_tps: Spread | None
    prompt_tps: Spread | None
    ttft_ms: Spread | None
    answer_ms: Spread | None
    output_tokens: Spread | None
    prompt_tokens: int | None
    by_engine: bool
    read_by_engine: bool
    warm: bool | None
    busy: float | None


@dataclass(frozen=True)
class Sameness:
    """How an answer goes beside another: the same; the same as far as one of them goes (`shorter`); or other from
    `character` on (from 0), which is in `token` (from 1), where tokens came one by one. `spaces`: it is other in spaces
    and line breaks alone, as far as one of them goes.
    """

    same: bool
    shorter: bool = False
    spaces: bool = False
    character: int | None = None
    token: int | None = None


def spread(values: Iterable[float | None]) -> Spread | None:
    """Of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return Spread(statistics.median(known), min(known), max(known), len(known)) if known else None


def score(column: Column) -> Score:
    """The figures of `column`. Waits and reading are those of prompts that were read anew, where there is one."""
    turns = column.turns
    fresh = [turn for turn in turns if not turn.cached]
    read = fresh or turns
    return Score(
        decode_tps=spread(turn.decode_tps for turn in turns),
        prompt_tps=spread(turn.prompt_tps for turn in read),
        ttft_ms=spread(turn.ttft_ms for turn in read),
        answer_ms=spread(turn.answer_ms for turn in read),
        output_tokens=spread(float(turn.output_tokens) for turn in turns),
        prompt_tokens=next((turn.prompt_tokens for turn in turns if turn.prompt_tokens is not None), None),
        by_engine=bool(turns) and all(turn.by_engine for turn in turns),
        read_by_engine=bool(read) and all(turn.read_by_engine for turn in read),
        warm=_warm(turns),
        busy=max((turn.busy for turn in turns if turn.busy is not None), default=None),
    )


def sameness(turn: Turn, other: Turn) -> Sameness:
    """How the answer of `turn` goes beside that of `other`; tokens are those of `turn`."""
    one, two = turn.text, other.text
    if one == two:
        return Sameness(same=True)
    parts = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    if parts is None:
        ended = min(len(one), len(two))
        return Sameness(same=False, shorter=True, character=ended, token=_token_at(turn, ended))
    spaces = _same_words(one.split(), two.split())
    return Sameness(same=False, spaces=spaces, character=parts, token=_token_at(turn, parts))


def _same_words(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether one list begins the other; a limit may cut the last word of the shorter."""
    short, long = sorted((one, two), key=lambda words: (len(words), len(words[-1]) if words else 0))
    whole = len(short) - 1
    return bool(short) and short[:whole] == long[:whole] and long[whole].startswith(short[whole])


def _warm(turns: Sequence[Turn]) -> bool | None:
    told = [turn.cached for turn in turns if turn.cached is not None]
    return all(told) if told else None


def _token_at(turn: Turn, character: int) -> int | None:
    """The token that holds a character; None where pieces are no tokens."""
    if len(turn.pieces) != turn.output_tokens:
        return None
    ends = accumulate(len(piece) for piece in turn.pieces)
    return next((number for number, end in enumerate(ends, 1) if end > character), len(turn.pieces) + 1)
