"""The layers of a GGUF model of an architecture that is not known, from its tensors alone.

What a layer projects its text to is what it may keep of it. It may keep less: hence an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.estimates.shape import Index, Layer
from weighbridge.estimates.shape_states import state_widths
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import ModelInfo

Shapes = Mapping[str, Sequence[int]]

_OWN_KEYS = ("ssm_conv1d_q", "ssm_conv1d_k")
"""Queries and keys of these layers go into their state, not into a cache."""
_RECURRENT = ("ssm_conv1d", "ssm_out", "shortconv.conv", "time_mix_w1", "time_mix_w2", *_OWN_KEYS)
"""Only layers with a state have one of these."""
_INDEXERS = ("indexer.attn_k", "indexer.k_proj", "indexer_compressor_kv")
"""What makes the keys by which tokens are chosen."""


def layers_of_tensors(info: ModelInfo, keys: Keys) -> list[Layer] | None:
    """The layers as the tensors show them; None where there are none to see, or nothing that keeps anything."""
    shapes = _by_layer(info)
    if not shapes or not info.layers:
        return None
    conv, state = state_widths("", info, keys)
    layers = [_layer(shapes.get(number, {}), info, keys, number, (conv, state)) for number in range(info.layers)]
    return layers if any(layer.cached or layer.conv or layer.state for layer in layers) else None


def _by_layer(info: ModelInfo) -> dict[int, dict[str, Sequence[int]]]:
    found: dict[int, dict[str, Sequence[int]]] = {}
    for tensor in info.tensors or ():
        place, _, rest = tensor.name.removeprefix("blk.").partition(".")
        if tensor.name.startswith("blk.") and place.isdecimal() and rest.endswith(".weight"):
            found.setdefault(int(place), {})[rest.removesuffix(".weight")] = tensor.shape
    return found


def _layer(shapes: Shapes, info: ModelInfo, keys: Keys, number: int, kept: tuple[int, int]) -> Layer:
    heads = (info.heads or ())[number : number + 1] or (0,)
    recurrent = any(name in shapes for name in _RECURRENT)
    conv, state = kept if recurrent else (0, 0)
    joined = recurrent and "attn_qkv" in shapes and "attn_k" not in shapes
    into_state = joined or any(name in shapes for name in _OWN_KEYS)
    key, value = (0, 0) if into_state else _widths(shapes, keys, heads[0] * (info.key_length or 0))
    chosen = max(_out(shapes, name) for name in _INDEXERS)
    index = Index(chosen, chosen) if chosen else None
    return Layer(heads[0] if key else 0, key, value, conv=conv, state=state, index=index)


def _widths(shapes: Shapes, keys: Keys, query: int) -> tuple[int, int]:
    """What a row of keys and one of values can have at the most."""
    if latent := _out(shapes, "attn_kv_a_mqa"):
        return (latent, 0) if "attn_k_b" in shapes else _unpressed(shapes, keys)
    if key := _out(shapes, "attn_k"):
        return key, _out(shapes, "attn_v") or key
    joined = _out(shapes, "attn_qkv")
    both = joined - query if query < joined else 2 * joined // 3
    return (both + 1) // 2, both // 2


def _unpressed(shapes: Shapes, keys: Keys) -> tuple[int, int]:
    """Compressed attention that is kept as if it were not: keys have the rotated part besides, for each head."""
    heads = keys.count("attention.head_count") or 0
    both = _out(shapes, "attn_kv_b")
    value = heads * (keys.count("attention.value_length") or 0)
    key = heads * (keys.count("attention.key_length") or 0)
    return (key, value) if key and value else (both, both)


def _out(shapes: Shapes, name: str) -> int:
    shape = shapes.get(name, ())
    return shape[1] if len(shape) >= 2 else 0
