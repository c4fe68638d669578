"""One answer that is over, in figures, and what of it says how fast the machine is. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

LEAST_OUTPUT, LEAST_PROMPT = 16, 64
"""Tokens written, and tokens freshly read, below which the start and the clock are measured, not the machine."""

MOST_BUSY = 0.5
"""Where others had more of the processor than this, they were measured too."""

SLACK_CORES = 0.2
"""What others may take of the cores that an engine's threads need: there is always a little."""


@dataclass(frozen=True)
class Answered:
    """An answer's figures, None where unknown. `by_engine`: counted and timed by the engine, not by who asked.

    `prompt_read` are the tokens of the prompt that were not in the cache yet, `context_used` all of prompt and answer.
    `alone`: no other answer was written and no other model loaded meanwhile. `busy` is the share of the processor that
    others than the engine used.
    """

    output_tokens: int
    prompt_read: int | None
    context_used: int | None
    decode_tps: float | None
    prompt_tps: float | None
    by_engine: bool
    alone: bool
    busy: float | None = None

    @property
    def depth(self) -> int:
        """Tokens in the cache in the middle of the answer."""
        return max(0, (self.context_used or 0) - self.output_tokens // 2)

    @property
    def prompt_alike(self) -> int:
        """The length of a prompt, nothing of it in the cache, whose tokens look back at as many others in the mean."""
        read = self.prompt_read or 0
        cached = max(0, (self.context_used or 0) - self.output_tokens - read)
        return read + 2 * cached


def worth_keeping(one: Answered, threads: int | None, cores: int) -> Answered | None:
    """`one` with only those speeds that say how fast the machine is; None where neither does.

    `threads` is how many of the `cores` the engine computed with; None where a card did it.
    """
    busy = one.busy or 0.0
    if not one.alone or one.context_used is None or busy > MOST_BUSY:
        return None
    if threads is not None and busy * cores > max(0, cores - threads) + SLACK_CORES:
        return None
    writing = one.by_engine and one.output_tokens >= LEAST_OUTPUT and is_speed(one.decode_tps)
    reading = one.prompt_read is not None and one.prompt_read >= LEAST_PROMPT and is_speed(one.prompt_tps)
    if not writing and not reading:
        return None
    return replace(one, decode_tps=one.decode_tps if writing else None, prompt_tps=one.prompt_tps if reading else None)


def is_speed(tps: float | None) -> bool:
    """Whether this is a number of tokens a second at all."""
    return tps is not None and math.isfinite(tps) and tps > 0
