"""The memory of MLX: everything lies in one place, and caches grow as a text does.

Source: mlx-lm's `cache.py` (`KVCache`, `RotatingKVCache`, `ChunkedKVCache`, `ArraysCache`) and its server's reading of
a prompt in steps. Checked against captured sizes.
"""

from __future__ import annotations

from dataclasses import replace

from weighbridge.estimates.plan import ELEMENT_BYTES, Plan, aligned
from weighbridge.estimates.shape import Layer, Shape

STEP_TOKENS = 2048
"""Tokens of a prompt that mlx-lm computes at a time, unless a smaller batch is asked for."""

_TYPE_BYTES, _STATE_BYTES = 2, 4

CHUNKED = frozenset({"llama4", "llama4_text"})
"""Types whose windows are chunks (`ChunkedKVCache`)."""

_LISTED = frozenset({"deepseek_v32", "falcon_h1", "glm_moe_dsa", "longcat_flash"})
"""Types with two caches in a layer (`CacheList`), which mlx-lm leaves as they are whatever is asked."""


def mlx_plan(shape: Shape, plan: Plan, architecture: str | None) -> Plan | None:
    """What mlx-lm makes of `plan`; None where it refuses the load.

    Its cache of a window cannot be quantised: it raises (`RotatingKVCache.to_quantized`). A chunk is left as it is.
    """
    if min(_element_bytes(plan.key_type), _element_bytes(plan.value_type)) == _TYPE_BYTES:
        return plan
    if architecture in _LISTED:
        return replace(plan, key_type="f16", value_type="f16")
    return None if shape.windowed and architecture not in CHUNKED else plan


def mlx_step(plan: Plan) -> int:
    """Tokens of a prompt that are computed at a time."""
    return min(STEP_TOKENS, plan.batch)


def mlx_cells(window: int | None, tokens: int, step: int, *, chunked: bool = False) -> int:
    """Tokens that one cache holds at its largest, for a text of `tokens` of which `step` are computed at a time.

    One with a window holds a whole step more while it reads the prompt, which is all but the last token.
    """
    if window is None:
        return aligned(tokens)
    if chunked:
        return min(aligned(tokens), window + aligned(step))
    return max(min(window, aligned(tokens)), min(tokens - 1, window + step - 1))


def mlx_kv_bytes(layer: Layer, plan: Plan, *, chunked: bool = False) -> int:
    """The layer's part of the cache. Each slot has windows of its own; those are never quantised."""
    if not layer.cached:
        return 0
    share = plan.context if plan.unified else -(-plan.context // plan.slots)
    cells = mlx_cells(layer.window, share, mlx_step(plan), chunked=chunked)
    if layer.window is not None:
        return plan.slots * cells * (layer.key_width + layer.value_width) * _TYPE_BYTES
    row = layer.key_width * _element_bytes(plan.key_type) + layer.value_width * _element_bytes(plan.value_type)
    index = (layer.index.key_width + layer.index.value_width) * _TYPE_BYTES if layer.index else 0
    return int(plan.streams * cells * (row + index))


def mlx_state_bytes(layer: Layer, slots: int = 1) -> int:
    """The layer's recurrent state: a part in the model's type, a part in 32 bits."""
    return (layer.conv * _TYPE_BYTES + layer.state * _STATE_BYTES) * slots


def _element_bytes(kind: str) -> float:
    """8 or 4 bits in groups of 64, with a scale and a bias, take what llama.cpp's types of these bits take."""
    return min(ELEMENT_BYTES.get(kind, _TYPE_BYTES), _TYPE_BYTES)
