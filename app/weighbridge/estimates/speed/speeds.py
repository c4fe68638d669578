"""Both speeds of one plan: the one that all who show or keep a speed ask for. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Place
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.speed.decode import decode
from weighbridge.estimates.speed.pace import Pace
from weighbridge.estimates.speed.prefill import first_token_s, prefill
from weighbridge.estimates.speed.speed import Speed
from weighbridge.estimates.speed.work import works

DEPTH, PROMPT = 1024, 512
"""A speed is shown for so many tokens in the cache, and for a prompt of so many, unless asked otherwise."""


@dataclass(frozen=True)
class Speeds:
    """How fast an answer is written and a prompt is read; None is unknown, never 0."""

    decode: Speed | None = None
    prefill: Speed | None = None

    def first_token_s(self, prompt: int) -> float | None:
        """Seconds until the first token of an answer to a prompt of this length; None where either is unknown."""
        if self.decode is None or self.prefill is None:
            return None
        return first_token_s(prompt, self.prefill, self.decode)


def speeds(
    blueprint: Blueprint,
    plan: Plan,
    places: Sequence[Place],
    paces: Mapping[str, Pace],
    *,
    depth: int | None = None,
    prompt: int = PROMPT,
    after: int = 0,
    answers: int = 1,
) -> Speeds:
    """The speeds of each of `answers` that are written at a time, with `depth` tokens in the cache of each, and of a
    prompt of `prompt` tokens that comes `after` so many others.

    `depth`: None is `DEPTH`, or the context where that is shorter. Written together, answers share a step's time; no
    step is faster than as many tokens of a prompt.
    """
    seen = min(DEPTH, plan.slot_cells) if depth is None else depth
    work = works(blueprint, plan, places, seen, answers)
    writing = decode(work, paces, seen)
    one = work if answers == 1 else works(blueprint, plan, places, seen)
    reading = prefill(blueprint, plan, one, paces, max(1, prompt), after)
    if writing is not None and reading is not None and answers > 1:
        slowest = writing.mid_tps * answers / reading.mid_tps
        writing = writing if slowest <= 1 else writing.times(1 / slowest, writing.high_tps / writing.mid_tps - 1)
    return Speeds(writing, reading)
