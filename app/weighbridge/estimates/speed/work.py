"""What one token of an answer makes each place do: layers to start, weights and cache to read. Pure.

Weights: every matrix but the embedding, of which one row is read (a tied one is the output matrix too); of experts, the
share that is used. Cache: all tokens before, or the window; a state is read and written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import STATE_BYTES, index_row_bytes, layer_row_bytes
from weighbridge.estimates.estimate import HOST, Place, PlaceKind
from weighbridge.estimates.llama import llama_seats
from weighbridge.estimates.memory import plan_in
from weighbridge.estimates.placement import Seat, away
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.runtime_device import RUNTIMES, place_of
from weighbridge.estimates.shape import Certainty, Layer
from weighbridge.estimates.shares_exl import exl_seats

NOT_TOLD_SHARE = 1.0
"""Of experts whose use is not told all may be read: too slow is better than too fast."""


@dataclass(frozen=True)
class Work:
    """One place's part of one token. Layers with experts here are `mixed_layers`; bytes are read for each token.

    `parameters` are those that a token is multiplied with, `scores` how often
    a head looks at another token.
    `cache_bytes` at the depth that was asked for, `latent` where they are of compressed attention, `flash`
    where flash attention reads them. `type_name` is the
    type in which most of the weights lie.
    """

    place: str
    layers: int
    mixed_layers: int
    weight_bytes: int
    cache_bytes: int
    latent: bool = False
    flash: bool = True
    type_name: str | None = None
    parameters: float = 0.0
    scores: float = 0.0


def works(blueprint: Blueprint, plan: Plan, places: Sequence[Place], depth: int, answers: int = 1) -> tuple[Work, ...]:
    """The work of one step in each place that has some, when `depth` tokens are in the cache.

    `answers` are written at a time: they share what is read of dense weights, but each has its own cache and experts.
    There is none where it is not known what the layers keep.
    """
    if blueprint.shape.certainty is Certainty.UNKNOWN:
        return ()
    read = _Read(blueprint, plan, depth, answers)
    parts = [read.work(place, seat) for place, seat in _seated(blueprint, plan, places)]
    read_bytes = sum(part.weight_bytes for part in parts)
    each = answers * (blueprint.use.active_parameters or 0) / read_bytes if read_bytes else 0.0
    return tuple(
        replace(part, parameters=each * part.weight_bytes) for part in parts if part.weight_bytes or part.cache_bytes
    )


def _seated(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> Sequence[tuple[Place, Seat]]:
    """Which layers lie where, by the way of the engine, or of the format's."""
    every = Seat(layers=range(len(blueprint.weights.layers)), has_output=True)
    if plan.engine in RUNTIMES:
        return [(place_of(plan_in(blueprint, plan, places), places), every)]
    if blueprint.format == "gguf":
        return llama_seats(blueprint, plan, places)
    if blueprint.format in ("exl2", "exl3"):
        return exl_seats(blueprint, plan, places)
    place = next((each for each in places if each.kind is not PlaceKind.HOST), places[0])
    return [(place, every)]


class _Read:
    """What is read for one step, reckoned once for each kind of layer."""

    def __init__(self, blueprint: Blueprint, plan: Plan, depth: int, answers: int) -> None:
        self._weights, self._plan = blueprint.weights, plan
        self._kind_of, self._latent = blueprint.shape.kind_of, blueprint.shape.latent
        self._type_name = blueprint.use.type_name
        share = blueprint.use.expert_share
        self._share = 1 - (1 - (NOT_TOLD_SHARE if share is None else share)) ** answers
        self._cache = [int(answers * layer_read_bytes(layer, plan, depth)) for layer in blueprint.shape.kinds]
        self._scores = [answers * layer_scores(layer, depth) for layer in blueprint.shape.kinds]

    def work(self, place: Place, seat: Seat) -> Work:
        """That of what lies in one place."""
        start, end = seat.layers.start, seat.layers.stop
        first = start if place.id == HOST else start + away(self._plan, seat.layers)
        mixed = self._between(self._weights.mixed_sums, first, end)
        dense_bytes = self._between(self._weights.dense_sums, start, end)
        expert_bytes = self._between(self._weights.expert_sums, first, end) + seat.expert_bytes
        guests = max(0, min(self._plan.cpu_experts, len(self._weights.layers)) - end) if seat.expert_bytes else 0
        output = self._output_bytes() if seat.has_output else 0
        kinds = self._kind_of[start:end]
        return Work(
            place=place.id,
            layers=len(seat.layers) - mixed,
            mixed_layers=mixed + guests,
            weight_bytes=int(dense_bytes + output + self._share * expert_bytes),
            cache_bytes=sum(map(self._cache.__getitem__, kinds)),
            scores=sum(map(self._scores.__getitem__, kinds)),
            latent=self._latent,
            flash=self._plan.flash_attention,
            type_name=self._type_name,
        )

    @staticmethod
    def _between(sums: Sequence[int], start: int, end: int) -> int:
        last = len(sums) - 1
        return sums[min(end, last)] - sums[min(start, last)]

    def _output_bytes(self) -> int:
        return self._weights.output_bytes + (self._weights.embedding_bytes if self._weights.tied else 0)


def layer_read_bytes(layer: Layer, plan: Plan, depth: int) -> float:
    """What one layer reads, and writes, of what it keeps for a token that comes after `depth` others."""
    seen = depth if layer.window is None else min(depth, layer.window)
    index = layer.index
    keys = index_row_bytes(index, plan) * depth / index.every if index else 0.0
    return seen * layer_row_bytes(layer, plan) + keys + 2 * (layer.conv + layer.state) * STATE_BYTES


def layer_scores(layer: Layer, depth: float) -> float:
    """How often one of a layer's heads looks at a token, for one that comes after `depth` others."""
    return layer.heads * min(depth, layer.window or depth) if layer.cached else 0.0
