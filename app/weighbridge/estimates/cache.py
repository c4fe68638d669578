"""The KV cache and the recurrent state of llama.cpp, in bytes, layer by layer.

Source: `llama_kv_cache` and those built of it (`_iswa`, `_dsa`, `_msa`, `_dsv4`), `llama_memory_recurrent`. Exact where
the shape is.
"""

from __future__ import annotations

from weighbridge.estimates.plan import Plan, aligned, element_bytes
from weighbridge.estimates.shape import Index, Layer, Shape

STATE_BYTES = 4
"""States are kept in 32-bit floats, whatever the type of the cache."""


def layer_cells(layer: Layer, plan: Plan) -> int:
    """Tokens that one of the layer's caches holds.

    A layer with a window needs it once for each conversation in the cache, and room for the batch being computed.
    """
    if layer.window is None or plan.whole_window:
        return plan.slot_cells
    conversations = plan.slots if plan.unified and not layer.separate else 1
    return aligned(min(plan.slot_cells, layer.window * conversations + plan.batch_tokens))


def index_cells(index: Index, plan: Plan) -> int:
    """Rows that one of a layer's second caches holds."""
    return plan.slot_cells if index.every == 1 else aligned(-(-plan.slot_cells // index.every))


def layer_kv_bytes(layer: Layer, plan: Plan) -> int:
    """The layer's part of the KV cache, over all streams."""
    streams = plan.slots if layer.separate else plan.streams
    one = layer_cells(layer, plan) * layer_row_bytes(layer, plan) if layer.cached else 0.0
    if layer.index:
        one += index_cells(layer.index, plan) * index_row_bytes(layer.index, plan)
    return int(streams * one)


def layer_row_bytes(layer: Layer, plan: Plan) -> float:
    """What one token takes in the layer's own cache."""
    padded = None if plan.flash_attention else layer.padded_width
    return _row_bytes(layer.key_width, layer.value_width if padded is None else padded, plan)


def index_row_bytes(index: Index, plan: Plan) -> float:
    """What one row of a layer's second cache takes."""
    return _row_bytes(index.key_width, index.value_width, plan)


def _row_bytes(key_width: int, value_width: int, plan: Plan) -> float:
    return key_width * _known_bytes(plan.key_type) + value_width * _known_bytes(plan.value_type)


def _known_bytes(kind: str) -> float:
    """Raises KeyError for a type whose size is not known: what has one is not weighed."""
    found = element_bytes(kind)
    if found is None:
        raise KeyError(kind)
    return found


def layer_state_bytes(layer: Layer, plan: Plan) -> int:
    """The layer's recurrent state: one for each slot, however long the context is."""
    return (layer.conv + layer.state) * STATE_BYTES * plan.slots


def kv_bytes(shape: Shape, plan: Plan) -> int:
    """The whole KV cache."""
    return shape.total(lambda layer: layer_kv_bytes(layer, plan))


def state_bytes(shape: Shape, plan: Plan) -> int:
    """The whole recurrent state."""
    return shape.total(lambda layer: layer_state_bytes(layer, plan))


def checkpoint_bytes(shape: Shape, plan: Plan) -> int:
    """What llama.cpp keeps in host memory to go back to an earlier place of one conversation: the windows of layers
    that have one, and recurrent states. 0 for a model whose whole cache can be cut anywhere.
    """
    rows = [layer_row_bytes(layer, plan) * min(layer.window, plan.slot_cells) for layer in shape.layers
            if layer.cached and layer.window is not None and not plan.whole_window]  # fmt: skip
    return int(sum(rows)) + state_bytes(shape, plan) // plan.slots


def token_bytes(shape: Shape, plan: Plan) -> int:
    """What one token more of a long context costs: only the layers without a window grow with it, and all indexes."""
    growing = [layer for layer in shape.layers if layer.cached and (layer.window is None or plan.whole_window)]
    indexes = [layer.index for layer in shape.layers if layer.index]
    rows = sum(layer_row_bytes(layer, plan) for layer in growing)
    return round(rows + sum(index_row_bytes(index, plan) / index.every for index in indexes))
