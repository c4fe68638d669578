"""How much of a model stays in host memory so that the cards are relieved of what is too much for them: a first guess.

It counts what parts take by themselves. What is left out (the compute buffer of what remains, cards that share by whole
layers) moves the answer by a layer or two, so whoever asks looks on from there by whole estimates.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import layer_kv_bytes, layer_state_bytes
from weighbridge.estimates.plan import Plan


def experts_to_keep(blueprint: Blueprint, missing_bytes: float) -> int:
    """Of how many first layers the experts stay in host memory."""
    return min(bisect_left(blueprint.weights.expert_sums, missing_bytes), len(blueprint.weights.layers))


def layers_to_keep(blueprint: Blueprint, plan: Plan, missing_bytes: float) -> int:
    """How many first layers stay there, of a plan that keeps the experts of `plan.cpu_experts` there anyway."""
    weights, shape = blueprint.weights, blueprint.shape
    kept = [layer_kv_bytes(kind, plan) + layer_state_bytes(kind, plan) for kind in shape.kinds]
    kept_sums = list(accumulate(map(kept.__getitem__, shape.kind_of), initial=0))

    def relief(first: int) -> int:
        experts = weights.expert_sums[first] - weights.expert_sums[min(first, plan.cpu_experts)]
        return weights.dense_sums[first] + experts + kept_sums[min(first, len(kept_sums) - 1)]

    layers = len(weights.layers)
    return min(bisect_left(range(layers + 1), missing_bytes, key=relief), layers)
