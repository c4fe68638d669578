"""The caches, states and the space to compute in of exllamav3.

Only for some models is a window kept as one (a ring for each slot); a compressed cache is one where the model has it.
Source: exllamav3 1.6.5, its cache and its attention modules. Read, not run: it needs CUDA.
"""

from __future__ import annotations

import re

from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.plan import Plan, aligned
from weighbridge.estimates.shape import Layer

HALF_BYTES, FLOAT_BYTES = 2, 4
CHUNK_TOKENS = 2048
RESERVED_BYTES = 512 << 20
"""What is left free on each card (`reserve_per_device`); the driver's own part comes out of it."""

WIDEST_SLICE = 32_768
"""Columns of a matrix that are turned into 16 bits at a time (`MAX_RECONSTRUCT_SLICE_N`)."""

_RING_SLACK = 512
"""Tokens that a ring holds beside its window, so that some can be taken back (`sliding_window_overp`)."""

_RINGS = frozenset(
    ["afmoe", "gemma4", "gemma4_text", "gpt_oss", "laguna", "mimo_v2", "mimo_v2_flash", "muse_glimmer", "spark2_5"]
) | frozenset(["step3_5", "step3p5", "step3p7"])
"""Models whose windows are kept as windows; of all others, every token of every layer is kept."""

_PAIRS_OF_FLOATS = frozenset(["nemotron_h", "nemotron_h_moe", "nemotron_h_omni"])
"""Models whose state is always kept in 32 bits, in two rows; that of others is two rows of 16."""

_BITS = re.compile(r"q([2-8])(?:_\d)?")
_SCALE = 0.5
"""Bits of scale for each element."""


def element_bytes(name: str) -> float:
    """Bytes of one element of a cache: "q2" to "q8" (with or without "_0"), and 16 bits for all else."""
    bits = _BITS.fullmatch(name.lower())
    return (int(bits[1]) + _SCALE) / 8 if bits else HALF_BYTES


def layer_kv_bytes(layer: Layer, plan: Plan, architecture: str, *, latent: bool = False) -> int:
    """The layer's cache: pages for the whole context, or a ring for each slot.

    Rings are never quantised; nor is, in a compressed cache, the part that turns with the position.
    """
    if layer.window is not None and architecture in _RINGS and not plan.whole_window:
        ring = aligned(layer.window - 1 + _RING_SLACK)
        return plan.slots * ring * (layer.key_width + layer.value_width) * HALF_BYTES
    value_bytes = HALF_BYTES if latent else element_bytes(plan.value_type)
    row = layer.key_width * element_bytes(plan.key_type) + layer.value_width * value_bytes
    indexed = layer.index.key_width * HALF_BYTES if layer.index else 0
    return int(plan.cells * (row + indexed))


def layer_state_bytes(layer: Layer, plan: Plan, architecture: str) -> int:
    """The layer's state, over all slots: two rows of it, and the inputs that one step more or less needs.

    A convolution keeps one column more than llama.cpp's, and a row of what came out of it.
    """
    rows = 2 * (FLOAT_BYTES if architecture in _PAIRS_OF_FLOATS else HALF_BYTES)
    kept = layer.conv * HALF_BYTES
    return (kept + 2 * (kept // 3 if layer.state else 0) + layer.state * rows) * plan.slots


def scratch_bytes(widths: Widths, plan: Plan) -> int:
    """What is held while a chunk is computed: the tokens in 32 bits, the widest part, and a slice of one matrix."""
    tokens = min(CHUNK_TOKENS, plan.batch, plan.cells)
    inner = max(3 * widths.feed_forward, 2 * widths.queries)
    matrix = widths.hidden * min(max(widths.feed_forward, widths.queries), WIDEST_SLICE)
    return tokens * (2 * widths.hidden * FLOAT_BYTES + inner * HALF_BYTES) + matrix * HALF_BYTES
