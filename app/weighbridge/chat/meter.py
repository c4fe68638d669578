"""The live figures under an answer: speeds, time to first token, tokens of context used.

Two speeds are told apart, always: how fast the prompt was read, and how fast the answer is written. The engine's own
timings are preferred; where it sends none, tokens are counted here and the reading says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from weighbridge.chat.events import Delta, Done, Event, PromptProgress, StreamFault, Timings, Usage

WINDOW_S = 1.0
"""How far back "tok/s now" looks."""

LEAST_S = 0.1
"""A shorter time says nothing of a speed that is counted here: a proxy on the way hands over pieces in heaps."""

_PIECE = re.compile(r"\s*(?:\w+|[^\w\s]+)|\s+")


@dataclass(frozen=True)
class Reading:
    """The figures of one answer at one moment. None: not known (yet).

    `source` is "engine" where the counts and speeds are the engine's, "counted" where they are this side's. `now_tps`
    is the speed over the last second, `decode_tps` over the whole answer without the wait for its first token.
    `context_used` are tokens of prompt and answer together, `prompt_read` those of the prompt that were not known from
    before.
    """

    source: Literal["engine", "counted"]
    now_tps: float | None = None
    decode_tps: float | None = None
    prompt_tps: float | None = None
    ttft_ms: float | None = None
    prompt_progress: tuple[int, int] | None = None
    context_used: int | None = None
    prompt_read: int | None = None
    output_tokens: int = 0


@dataclass(frozen=True)
class _Sample:
    """Tokens written by a moment, on this side's clock and on the engine's (None where this side counted)."""

    at_s: float
    tokens: int
    engine_ms: float | None = None


class Meter:
    """Counts the events of one answer. Made when the request is sent; `clock` gives seconds that never go back.

    One thread feeds it; `reading()` may be called from any other.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sent_s = clock()
        self._first_s: float | None = None
        self._last_s: float | None = None
        self._ended_s: float | None = None
        self._counted = 0
        self._counted_first = 0
        self._timings: Timings | None = None
        self._progress: PromptProgress | None = None
        self._usage: Usage | None = None
        self._samples: tuple[_Sample, ...] = ()

    def feed(self, event: Event) -> None:
        """Take one event into account."""
        now_s = self._clock()
        if isinstance(event, Delta):
            self._count(event, now_s)
        elif isinstance(event, Timings):
            self._take(event, now_s)
        elif isinstance(event, PromptProgress):
            self._progress = event
        elif isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, Done | StreamFault):
            self._ended_s = now_s

    def reading(self) -> Reading:
        """The figures as they stand now."""
        now_s = self._ended_s if self._ended_s is not None else self._clock()
        told = self._timings
        by_engine = told is not None and told.predicted_n is not None
        return Reading(
            source="engine" if by_engine else "counted",
            now_tps=rate_now(self._samples, now_s),
            decode_tps=self._decode_tps(),
            prompt_tps=self._prompt_tps(),
            ttft_ms=None if self._first_s is None else (self._first_s - self._sent_s) * 1000,
            prompt_progress=None if self._progress is None else (self._progress.processed, self._progress.total),
            context_used=self._context_used(),
            prompt_read=self._prompt_read(),
            output_tokens=self._output_tokens(),
        )

    def _count(self, delta: Delta, now_s: float) -> None:
        tokens = guess_tokens(delta)
        self._counted += tokens
        if self._first_s is None:
            self._first_s = now_s
            self._counted_first = tokens
        self._last_s = now_s
        if self._timings is None or self._timings.predicted_n is None:
            self._sample(_Sample(now_s, self._counted))

    def _take(self, told: Timings, now_s: float) -> None:
        if told.predicted_n and (self._timings is None or not self._timings.predicted_n):
            self._samples = ()  # what was counted before the engine's first figures is on another scale
        self._timings = told
        if told.predicted_n:
            self._sample(_Sample(now_s, told.predicted_n, told.predicted_ms))

    def _sample(self, sample: _Sample) -> None:
        recent = tuple(kept for kept in self._samples if kept.at_s >= sample.at_s - WINDOW_S)
        # One older sample stays where the window holds none: a slow engine writes less than a token a second.
        self._samples = (*(recent or self._samples[-1:]), sample)

    def _decode_tps(self) -> float | None:
        told = self._timings
        if told is not None and told.predicted_n is not None:
            return told.decode_tps if told.predicted_n > 1 else None
        if self._first_s is None or self._last_s is None or self._last_s - self._first_s < LEAST_S:
            return None
        # The first piece ends the wait; only what came after it took the time that is divided by.
        after_first = (self._counted - self._counted_first) / self._counted
        return self._output_tokens() * after_first / (self._last_s - self._first_s)

    def _prompt_tps(self) -> float | None:
        told = self._timings
        if told is not None and told.prompt_tps:
            return told.prompt_tps
        seen = self._progress
        if seen is None or not seen.time_ms or seen.processed <= seen.cache:
            return None
        return (seen.processed - seen.cache) * 1000 / seen.time_ms

    def _prompt_read(self) -> int | None:
        told, seen = self._timings, self._progress
        if told is not None and told.prompt_n is not None:
            return told.prompt_n
        return None if seen is None else max(0, seen.processed - seen.cache)

    def _output_tokens(self) -> int:
        told = self._timings
        if told is not None and told.predicted_n is not None:
            return told.predicted_n
        if self._usage is not None and self._usage.completion_tokens is not None:
            return self._usage.completion_tokens
        return self._counted

    def _context_used(self) -> int | None:
        told, usage = self._timings, self._usage
        if told is not None and told.prompt_n is not None:
            return told.prompt_n + (told.cache_n or 0) + (told.predicted_n or 0)
        if usage is not None and usage.prompt_tokens is not None:
            return usage.prompt_tokens + (usage.completion_tokens or 0)
        return None if self._progress is None else self._progress.processed + self._counted


def rate_now(samples: tuple[_Sample, ...], now_s: float) -> float | None:
    """Tokens per second over the samples' span; None under two samples.

    A stream that stands still sinks: after a silence longer than the window, less than one token per silence is
    written.
    """
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    if first.engine_ms is not None and last.engine_ms is not None:
        span_s, least_s = (last.engine_ms - first.engine_ms) / 1000, 0.0
    else:
        span_s, least_s = last.at_s - first.at_s, LEAST_S
    tokens = last.tokens - first.tokens
    if span_s <= least_s or tokens <= 0:
        return None
    silent_s = now_s - last.at_s
    rate = tokens / span_s
    return min(rate, 1 / silent_s) if silent_s > WINDOW_S else rate


def guess_tokens(delta: Delta) -> int:
    """About how many tokens a piece stands for: its words and signs, at least 1.

    Engines that send a token a piece are counted right; those that send several are nearly right until their own count
    comes.
    """
    said = f"{delta.reasoning}{delta.text}"
    return max(1, len(_PIECE.findall(said)))
