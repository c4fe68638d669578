"""The constants of speed out of measurements: robust least squares on the logarithm of the time of a token.

For each kind of device (api and generation) four numbers are fitted to rows: how well it streams weights, what a layer
costs without and with experts, how well it streams a cache. Each is drawn towards a first value as if by a few rows of
its own, so that a kind with few rows stays near to it; a machine with many rows counts as the square root of them; a
row that is far off counts little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weighbridge.estimates.speed.constants import Constants

Floats = NDArray[np.float64]

SPREADS = np.array([0.12, 0.35, 0.35, 0.40])
"""How far each of the four may well lie from its first value, as a logarithm."""

SCATTER, LEAST_OFF = 0.10, 0.03
STEPS, STEP, NUDGE = 40, 0.7, 1e-4


@dataclass(frozen=True)
class Token:
    """What one token did on one kind of device, and how long it took: in seconds, bytes and GB/s."""

    machine: str
    layers: int
    mixed_layers: int
    weight_bytes: float
    cache_bytes: float
    gbs: float
    seconds: float


def fitted(first: Constants, tokens: Sequence[Token]) -> Constants:
    """`first` with its four numbers put right by `tokens`."""
    start = np.log([first.streaming, first.layer_us, first.mixed_layer_us, first.cache_streaming])
    found = _solved(start, tokens) if tokens else start
    streaming, layer_us, mixed_layer_us, cache_streaming = (float(each) for each in np.exp(found))
    return replace(
        first,
        streaming=streaming,
        layer_us=layer_us,
        mixed_layer_us=mixed_layer_us,
        cache_streaming=cache_streaming,
        rows=len(tokens),
    )


def _solved(start: Floats, tokens: Sequence[Token]) -> Floats:
    columns = _Columns(tokens)
    values = start.copy()
    for _ in range(STEPS):
        now = columns.log_seconds(values)
        off = columns.measured - now
        slopes = np.stack([(columns.log_seconds(values + nudge) - now) / NUDGE for nudge in NUDGE * np.eye(4)], axis=1)
        weights = columns.weights / (np.maximum(np.abs(off), LEAST_OFF) * SCATTER)
        normal = (slopes * weights[:, None]).T @ slopes + np.diag(SPREADS**-2)
        pull = slopes.T @ (weights * off) + (start - values) * SPREADS**-2
        values = values + STEP * np.clip(np.linalg.solve(normal, pull), -0.5, 0.5)
    return values


class _Columns:
    """The tokens as arrays."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        counts = Counter(token.machine for token in tokens)
        self.weights = np.array([counts[token.machine] ** -0.5 for token in tokens])
        self.measured = np.log([token.seconds for token in tokens])
        self._layers = np.array([token.layers for token in tokens], dtype=float)
        self._mixed = np.array([token.mixed_layers for token in tokens], dtype=float)
        self._weight_s = np.array([token.weight_bytes / token.gbs * 1e-9 for token in tokens])
        self._cache_s = np.array([token.cache_bytes / token.gbs * 1e-9 for token in tokens])

    def log_seconds(self, values: Floats) -> Floats:
        """What the four numbers, as logarithms, make of each token."""
        streaming, layer_us, mixed_us, cache_streaming = np.exp(values)
        fixed = (self._layers * layer_us + self._mixed * mixed_us) * 1e-6
        seconds: Floats = np.log(fixed + self._weight_s / streaming + self._cache_s / cache_streaming)
        return seconds
