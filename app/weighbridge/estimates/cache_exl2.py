"""The caches and the space to compute in of exllamav2: every layer keeps every token, whatever windows it has.

Source: exllamav2 0.3.2, `ExLlamaV2Cache` and its quantised kinds, and what each module asks for as scratch space. Read,
not run: it needs CUDA.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer

HALF_BYTES = 2
INPUT_TOKENS = 2048
"""Tokens computed at a time (`max_input_len`)."""

RESERVED_BYTES = (192 << 20, 64 << 20)
"""What is left free on the first card, and on each other one (`load_autosplit`)."""

LARGEST_MATRIX = 512 << 20
"""Elements of a matrix that are turned into 16 bits at a time (`max_dq_size`)."""

_SCALE = 2 / 32
ELEMENT_BYTES: Mapping[str, tuple[float, float]] = {
    "f16": (2, 2),
    "q8": (1 + _SCALE, 1 + _SCALE),
    "q6": (1 + _SCALE, 0.5 + _SCALE),
    "q4": (0.5 + _SCALE, 0.5 + _SCALE),
}
"""Bytes of an element of keys and of values, with a scale for each 32; 6 bits are 8 of keys and 4 of values."""


def cache_type(name: str) -> str:
    """The kind of cache, by the name that a plan has for it: "q8_0" and "q8" are one."""
    kind = name.lower().removesuffix("_0")
    return kind if kind in ELEMENT_BYTES else "f16"


def layer_kv_bytes(layer: Layer, plan: Plan) -> int:
    """The layer's cache, set aside at once for the whole context."""
    key_bytes, value_bytes = ELEMENT_BYTES[cache_type(plan.key_type)]
    return int(plan.cells * (layer.key_width * key_bytes + layer.value_width * value_bytes))


def unpacked_bytes(layer: Layer, plan: Plan) -> int:
    """On each card, one layer's cache in 16 bits, into which a quantised one is turned before it is attended to."""
    if cache_type(plan.key_type) == "f16":
        return 0
    return plan.cells * (layer.key_width + layer.value_width) * HALF_BYTES


def scratch_bytes(widths: Widths, plan: Plan) -> int:
    """What a card's layers share while they compute: the tokens, twice the widest part, and one matrix in 16 bits."""
    tokens = min(INPUT_TOKENS, plan.batch, plan.cells)
    attention = tokens * max(widths.queries, widths.hidden)
    feed_forward = tokens * (widths.hidden + 2 * max(widths.hidden, widths.feed_forward))
    matrix = min(widths.hidden * max(widths.feed_forward, widths.queries), LARGEST_MATRIX)
    return (max(attention, feed_forward) + matrix) * HALF_BYTES
