"""Paces in round figures, for tests of speed."""

from __future__ import annotations

from dataclasses import replace

from weighbridge.estimates.estimate import HOST
from weighbridge.estimates.speed.constants import Constants
from weighbridge.estimates.speed.pace import Pace

ROUND = Constants(
    api="cuda",
    generation="ada",
    streaming=1.0,
    layer_us=0.0,
    mixed_layer_us=0.0,
    cache_streaming=1.0,
    latent_streaming=0.1,
    prefill_share=1.0,
    mixed_prefill_share=0.5,
    attention_share=1.0,
    spread=0.25,
    prefill_spread=0.5,
    rows=0,
    source="made",
)


def pace(place: str = HOST, gbs: float = 1.0, tflops: float | None = 1.0, **constants: float) -> Pace:
    """That of a device which reads `gbs` and loses nothing, unless told otherwise."""
    return Pace(place, place, gbs, gbs, replace(ROUND, **constants), tflops)
