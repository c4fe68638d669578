"""The compute buffer of llama.cpp: what its graph holds while one batch is computed, and the buffer of its outputs.

All of it is set aside once, for the widest batch there can be: the masks of attention for as long as the graph runs,
and beside them the larger of the widest layer and the logits.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.estimates.activations import Activations
from weighbridge.estimates.cache import layer_cells
from weighbridge.estimates.compute_recurrent import recurrent_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer, Shape

FLOAT_BYTES = 4
MASK_BYTES = 2
"""A mask is kept in 16-bit floats where flash attention reads it."""


def compute_bytes(activations: Activations, shape: Shape, plan: Plan, layers: range | None = None) -> int:
    """The compute buffer of a device that holds `layers` (all of them where not told)."""
    held = range(len(shape.layers)) if layers is None else layers
    own = [shape.layers[number] for number in held]
    masks = mask_bytes(own, plan)
    if activations.graph:
        logits = masks + activations.vocabulary * outputs(plan) * FLOAT_BYTES
        return max(recurrent_bytes(activations.graph, plan, masks, held), logits)
    widest = max((activations.layers[number] for number in held if number < len(activations.layers)), default=0)
    tokens = plan.batch_tokens
    floats = max(widest * tokens, activations.vocabulary * outputs(plan))
    if not plan.flash_attention:
        floats += max((layer.heads * layer_cells(layer, plan) for layer in own), default=0) * tokens
    return masks + floats * FLOAT_BYTES


def mask_bytes(layers: Sequence[Layer], plan: Plan) -> int:
    """The masks of attention: one for each length of cache among the layers."""
    kinds = {layer.window is None: layer_cells(layer, plan) for layer in layers if layer.heads}
    return sum(kinds.values()) * plan.batch_tokens * (MASK_BYTES if plan.flash_attention else FLOAT_BYTES)


def output_bytes(activations: Activations, plan: Plan) -> int:
    """The logits that are handed out, in host memory."""
    return outputs(plan) * activations.vocabulary * FLOAT_BYTES


def outputs(plan: Plan) -> int:
    """For how many tokens of a batch logits are computed."""
    return min(plan.slots if plan.outputs is None else plan.outputs, plan.batch)
