"""What parts of a model take on cards by themselves: their weights, and what their layers keep.

All else that lies there (the compute buffer, what an engine takes) is never less where there are more parts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import layer_kv_bytes, layer_state_bytes
from weighbridge.estimates.placement import slot_count
from weighbridge.estimates.plan import Plan

Takes = Callable[[int], int]
"""The bytes that so many parts take."""


def experts_on_cards(blueprint: Blueprint) -> Takes:
    """By the number of last layers whose experts lie on cards."""
    sums, layers = blueprint.weights.expert_sums, len(blueprint.weights.layers)
    return lambda count: sums[layers] - sums[layers - count]


def layers_on_cards(blueprint: Blueprint, plan: Plan) -> Takes:
    """By the number of last slots there, as `placement` counts them; without the experts of `plan.cpu_experts`."""
    weights, shape, layers = blueprint.weights, blueprint.shape, len(blueprint.weights.layers)
    slots = slot_count(weights)
    output = weights.output_bytes + (weights.embedding_bytes if weights.tied else 0)
    kept = [layer_kv_bytes(kind, plan) + layer_state_bytes(kind, plan) for kind in shape.kinds]
    kept_sums = list(accumulate(map(kept.__getitem__, shape.kind_of[:layers]), initial=0))

    def takes(count: int) -> int:
        if not count:
            return 0
        first = min(slots - count, layers)
        experts = weights.expert_sums[layers] - weights.expert_sums[max(first, min(plan.cpu_experts, layers))]
        context = kept_sums[-1] - kept_sums[min(first, len(kept_sums) - 1)]
        return output + weights.dense_sums[layers] - weights.dense_sums[first] + experts + context

    return takes
