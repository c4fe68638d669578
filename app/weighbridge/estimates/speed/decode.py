"""How fast an answer is written. Pure.

    t = layers x c + weights read / (k x B) + cache read / (kk x B), summed over places; tok/s = 1 / t

Reading dominates, for every weight is read once for each token; the fixed cost of a layer (launches, norms, waiting)
is what makes small models slower than their bytes tell. Layers in several places come one after the other, so times
add up. Source of the form and of its first constants: llama.cpp's and MLX's published benchmark tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.estimates.speed.constants import Constants
from weighbridge.estimates.speed.pace import Pace
from weighbridge.estimates.speed.speed import Leg, Speed, spread_of
from weighbridge.estimates.speed.work import Work

BOUNDARY_S = 1e-4
"""What it costs to hand a token from one place to the next."""

WITHOUT_FLASH = 0.5
"""Without flash attention a cache is read twice: its scores are written down in between."""


def decode(works: Sequence[Work], paces: Mapping[str, Pace], depth: int) -> Speed | None:
    """Steps a second, each of which writes one token of every answer, when `depth` tokens are in the cache.

    None where there is no work, or where the bandwidth of a place that has some is not known.
    """
    if not works or any(work.place not in paces for work in works):
        return None
    legs = tuple(_leg(work, paces[work.place]) for work in works)
    handed_s = BOUNDARY_S * (len(legs) - 1)
    whole_s = handed_s + sum(leg.seconds for leg in legs)
    low_s = handed_s + sum(seconds(leg.work, leg.pace, leg.pace.high_gbs) for leg in legs)
    high_s = handed_s + sum(seconds(leg.work, leg.pace, leg.pace.low_gbs) for leg in legs)
    spread = 1 + spread_of(legs)
    return Speed(1 / high_s / spread, 1 / whole_s, spread / low_s, depth, legs=legs)


def _leg(work: Work, pace: Pace) -> Leg:
    return Leg(work, pace, seconds(work, pace, pace.mid_gbs))


def seconds(work: Work, pace: Pace, gbs: float) -> float:
    """How long a place takes for its part of a token, at this bandwidth: a processor computes while it reads."""
    row, each_s = pace.constants, 1e-9 / gbs
    weights = work.weight_bytes * each_s / (row.streaming * pace.type_factor(work.type_name))
    streaming = row.latent_streaming if work.latent else row.cache_streaming
    cache = work.cache_bytes * each_s / (streaming if work.flash else streaming * WITHOUT_FLASH)
    return (
        fixed_s(work, row)
        + max(weights, _computed_s(work.parameters, pace.parameters_per_s))
        + max(cache, _computed_s(work.scores, pace.scores_per_s))
    )


def fixed_s(work: Work, row: Constants) -> float:
    """What it takes to start all layers once, whatever their size."""
    return (work.layers * row.layer_us + work.mixed_layers * row.mixed_layer_us) * 1e-6


def _computed_s(amount: float, per_s: float | None) -> float:
    return amount / per_s if per_s else 0.0
