"""The memory of mlx-lm: all of it lies in one place, no part in another and none split over several.

What is computed beside the caches was measured on a CPU (11 small models); on a Mac it rests on published peaks.
Source of what Metal computes piece by piece: MLX's `scaled_dot_product_attention.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache_mlx import CHUNKED, mlx_cells, mlx_kv_bytes, mlx_plan, mlx_state_bytes, mlx_step
from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.estimate import Place, PlaceKind, Share, Term, Terms
from weighbridge.estimates.overhead import overhead_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Shape

TYPE_BYTES, LOGIT_BYTES = 2, 4
HIDDEN_COPIES, FEED_FORWARD_COPIES = 18, 2
"""How often a layer's two widths stand in memory for each token of a step: measured, within 3 % for three sizes."""

IN_FLIGHT = 2.5
"""A GPU is handed the work of more than one layer at a time, and holds what all of that needs.

With it, Qwen3-4B in 4, 8 and 16 bits comes within 3 % of the peaks published for a Mac (3.35, 5.25 and 9.02 GB).
"""

_PIECEWISE = frozenset({64, 72, 80, 96, 128})
"""Widths of a head for which Metal reads a prompt without holding all its scores."""


def mlx_shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What lies in the one place that MLX uses: the first that a GPU computes in, else the system's memory.

    Of a plan that it refuses, what it keeps for a context is unknown.
    """
    place = next((each for each in places if each.kind is not PlaceKind.HOST), places[0])
    shape, widths, amount = blueprint.shape, blueprint.widths, blueprint.weights.total_bytes
    terms: Terms = {Term.WEIGHTS: amount, Term.ENGINE: overhead_bytes("mlx", place, amount)}
    made = mlx_plan(shape, plan, blueprint.architecture)
    if shape.certainty is Certainty.UNKNOWN or made is None:
        return (Share(place.id, {**terms, Term.KV: None}),)
    chunked = blueprint.architecture in CHUNKED
    kv_bytes = [mlx_kv_bytes(layer, made, chunked=chunked) for layer in shape.kinds]
    terms[Term.KV] = sum(kv_bytes[kind] for kind in shape.kind_of[: len(shape.layers)])
    terms[Term.STATE] = shape.total(lambda layer: mlx_state_bytes(layer, plan.slots))
    if widths is None:
        return (Share(place.id, {**terms, Term.COMPUTE: None}),)
    on_gpu = place.kind is not PlaceKind.HOST
    terms[Term.COMPUTE] = max(kv_bytes, default=0) + compute_bytes(shape, widths, plan, on_gpu=on_gpu)
    terms[Term.OUTPUT] = widths.vocabulary * LOGIT_BYTES * plan.slots
    return (Share(place.id, terms),)


def compute_bytes(shape: Shape, widths: Widths, plan: Plan, *, on_gpu: bool) -> int:
    """What is held at most while a step of a prompt is computed, beside a copy of the cache that grows."""
    step = min(mlx_step(plan), plan.cells)
    layer = HIDDEN_COPIES * widths.hidden + FEED_FORWARD_COPIES * widths.feed_forward
    piecewise = on_gpu and widths.head in _PIECEWISE and not shape.latent and not widths.capped
    longest = max((mlx_cells(each.window, plan.slot_cells, step) for each in shape.kinds if each.cached), default=0)
    scores = 0 if piecewise else widths.heads * longest
    return step * TYPE_BYTES * (int(layer * (IN_FLIGHT if on_gpu else 1)) + scores)
