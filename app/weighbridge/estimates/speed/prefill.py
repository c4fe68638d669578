"""How fast a prompt is read. Pure.

    t = 2 x active parameters but the output's / F + 4 x elements of queries x tokens attended to / Fa; tok/s = 1 / t

A prompt is read many tokens at a time, so computing dominates, not memory. F is what a device reaches of its published
half-precision rate with quantised weights, Fa what its attention reaches. What it costs to start a layer is paid once
for each batch, and so is copying to a card the weights that lie in the system's memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import HOST
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.speed.decode import fixed_s
from weighbridge.estimates.speed.pace import Pace
from weighbridge.estimates.speed.speed import Leg, Speed, spread_of
from weighbridge.estimates.speed.work import Work, layer_scores

BUS_GBS = 16.0
"""What a card takes of weights from the system's memory, in GB/s: half of what a PCIe 4 x16 slot is sold with."""


@dataclass(frozen=True)
class _Token:
    """What one token of a prompt costs in the mean: operations with weights, operations of attention."""

    weights: float
    attention: float


def prefill(
    blueprint: Blueprint, plan: Plan, works: Sequence[Work], paces: Mapping[str, Pace], prompt: int, depth: int = 0
) -> Speed | None:
    """Tokens a second over `prompt` tokens that come after `depth` others, `works` being those of one answer.

    None where the parameters that are used, or the compute of a place, are not known.
    """
    active, read_bytes = _active(blueprint), sum(work.weight_bytes for work in works)
    card = next((work.place for work in works if work.place != HOST), None)
    computing = [pace for work in works if (pace := paces.get(_computes(work, card))) and pace.tflops]
    if not active or not read_bytes or len(computing) < len(works):
        return None
    token = _Token(2.0 * active, _attention(blueprint, depth + prompt / 2))
    batch = min(plan.batch_tokens, prompt)
    copied_s = _copied_bytes(blueprint, works) / (BUS_GBS * 1e9 * batch) if card else 0.0
    legs = tuple(
        Leg(
            work,
            pace,
            _seconds(token, work, pace, work.weight_bytes / read_bytes)
            + fixed_s(work, pace.constants) / batch
            + (work.place == HOST) * copied_s,
        )
        for work, pace in zip(works, computing, strict=True)
    )
    whole_s, spread = sum(leg.seconds for leg in legs), 1 + spread_of(legs, prefill=True)
    return Speed(1 / whole_s / spread, 1 / whole_s, spread / whole_s, depth, legs=legs)


def _active(blueprint: Blueprint) -> int | None:
    """The parameters that each token of a prompt is multiplied with: logits are wanted of the last one alone."""
    use = blueprint.use
    return None if use.active_parameters is None else max(0, use.active_parameters - use.output_parameters)


def _computes(work: Work, card: str | None) -> str:
    """The place that computes: a card takes over what lies in the system's memory."""
    return card if card is not None and work.place == HOST else work.place


def first_token_s(prompt: int, reading: Speed, writing: Speed) -> float:
    """Seconds until the first token of an answer to a prompt of this length, the model being loaded."""
    return prompt / reading.mid_tps + 1 / writing.mid_tps


def _seconds(token: _Token, work: Work, pace: Pace, share: float) -> float:
    """How long a place takes for its share of a token."""
    row = pace.constants
    rate = (pace.tflops or 0.0) * 1e12 * row.prefill_share
    weights = token.weights / (rate * (row.mixed_prefill_share if work.mixed_layers else 1.0))
    return share * (weights + token.attention / (rate * row.attention_share))


def _attention(blueprint: Blueprint, seen: float) -> float:
    """Operations of attention for a token in the mean, over all layers: two for keys and two for values."""
    shape = blueprint.shape
    scores = sum(count * layer_scores(kind, seen) for kind, count in zip(shape.kinds, shape.kind_counts, strict=True))
    return 4.0 * blueprint.use.key_length * scores


def _copied_bytes(blueprint: Blueprint, works: Sequence[Work]) -> int:
    """The weights that a card has to fetch: all experts of a layer, for a batch uses them all."""
    host = next((work for work in works if work.place == HOST), None)
    if host is None:
        return 0
    share = blueprint.use.expert_share or 1.0
    return int(host.weight_bytes / share) if host.mixed_layers else host.weight_bytes
