"""The KV cache and the recurrent state of llama.cpp, in bytes, layer by layer.

Source: `llama_kv_cache`, `llama_kv_cache_iswa` and `llama_memory_recurrent`. Exact where the shape is.
"""

from __future__ import annotations

from weighbridge.estimates.plan import ELEMENT_BYTES, Plan, aligned
from weighbridge.estimates.shape import Layer, Shape

STATE_BYTES = 4
"""States are kept in 32-bit floats, whatever the type of the cache."""


def layer_cells(layer: Layer, plan: Plan) -> int:
    """Tokens that one of the layer's caches holds.

    A layer with a window needs it once for each conversation in the cache, and room for the batch being computed.
    """
    if layer.window is None or plan.whole_window:
        return plan.slot_cells
    conversations = plan.slots if plan.unified else 1
    return aligned(min(plan.slot_cells, layer.window * conversations + plan.batch_tokens))


def layer_kv_bytes(layer: Layer, plan: Plan) -> int:
    """The layer's part of the KV cache, over all streams."""
    if not layer.cached:
        return 0
    key_bytes = layer.key_width * ELEMENT_BYTES[plan.key_type]
    value_bytes = layer.value_width * ELEMENT_BYTES[plan.value_type]
    return int(plan.streams * layer_cells(layer, plan) * (key_bytes + value_bytes))


def layer_state_bytes(layer: Layer, plan: Plan) -> int:
    """The layer's recurrent state: one for each slot, however long the context is."""
    return (layer.conv + layer.state) * STATE_BYTES * plan.slots


def kv_bytes(shape: Shape, plan: Plan) -> int:
    """The whole KV cache."""
    return shape.total(lambda layer: layer_kv_bytes(layer, plan))


def state_bytes(shape: Shape, plan: Plan) -> int:
    """The whole recurrent state."""
    return shape.total(lambda layer: layer_state_bytes(layer, plan))


def token_bytes(shape: Shape, plan: Plan) -> int:
    """What one token more of a long context costs: only the layers without a window grow with it."""
    growing = [layer for layer in shape.layers if layer.cached and (layer.window is None or plan.whole_window)]
    one = sum(
        layer.key_width * ELEMENT_BYTES[plan.key_type] + layer.value_width * ELEMENT_BYTES[plan.value_type]
        for layer in growing
    )
    return round(one)
