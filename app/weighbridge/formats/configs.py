"""The config.json of a folder of weights, as `ModelInfo`.

Keys are those of Hugging Face's transformers. Nothing in it is trusted: each value is looked at before it is believed,
and what is kept of the whole is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge.base.printable import printable
from weighbridge.formats.architectures import Kind
from weighbridge.formats.keys import MOST_LETTERS
from weighbridge.formats.model import MAX_LAYERS, ModelInfo
from weighbridge.formats.plain_json import bounded
from weighbridge.formats.quantisation import Config, whole

_NESTED = ("text_config", "language_config", "llm_config", "thinker_config")
_WITHOUT_CACHE = frozenset({"linear_attention", "mamba", "mamba2", "conv", "recurrent", "mlp", "moe"})
_ATTENTION = "*"
"""The letter of an attention layer in Nemotron-H's `hybrid_override_pattern`."""

_DEFAULTS: Mapping[str, Config] = {
    "gemma": {"head_dim": 256},
    "gemma2": {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256},
    "gemma3_text": {
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "vocab_size": 262_208,
        "max_position_embeddings": 131_072,
    },
    "mistral": {"num_key_value_heads": 8},
    "mixtral": {"num_key_value_heads": 8},
}
"""What transformers fills in where these models' own configs leave it out."""


def text_config(config: Config) -> dict[str, Any]:
    """`config` with the keys of the text model that a multimodal one nests among them, and what is usual filled in."""
    nested: dict[str, Any] = {}
    for key in _NESTED:
        inner = config.get(key)
        if isinstance(inner, Mapping):
            nested.update(text_config(inner) if key == "thinker_config" else inner)
    outer = {key: value for key, value in config.items() if key not in _NESTED}
    merged = {**outer, **nested}
    usual = _DEFAULTS.get(str(merged.get("model_type")), {})
    return {**usual, **merged}


def config_info(config: Config, variant_format: str, kind: Kind, quant: str | None, *, guessed: bool) -> ModelInfo:
    """What `config` says of the model, which has the format `variant_format` and the label `quant`."""
    kept = bounded(text_config(config))
    layers = _first(kept, MAX_LAYERS, "num_hidden_layers", "n_layer", "n_layers", "num_layers")
    heads = _per_layer(kept, layers, "num_attention_heads", "n_head", "n_heads")
    embedding = _first(kept, None, "hidden_size", "n_embd", "d_model")
    length = _first(kept, None, "head_dim") or _quotient(embedding, heads)
    architecture = kept.get("model_type")
    return ModelInfo(
        format=variant_format,
        kind=kind,
        architecture=printable(architecture[:MOST_LETTERS]) if isinstance(architecture, str) else None,
        quant=quant,
        layers=layers,
        context_length=_first(kept, None, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
        embedding_length=embedding,
        heads=heads,
        kv_heads=_kv_heads(kept, layers, heads),
        key_length=_key_length(kept) or length,
        value_length=_first(kept, None, "v_head_dim") or length,
        sliding_window=sliding_window(kept),
        experts=_first(kept, None, "num_local_experts", "num_experts", "n_routed_experts") or None,
        experts_used=_first(kept, None, "num_experts_per_tok", "num_experts_per_token", "top_k_experts") or None,
        config=kept,
        quant_guessed=guessed,
    )


def sliding_window(config: Config) -> int | None:
    """The window in tokens; None where there is none, or it is switched off."""
    return None if config.get("use_sliding_window") is False else whole(config.get("sliding_window")) or None


def attention_layers(config: Config, layers: int) -> tuple[bool, ...]:
    """Which layers keep a cache of keys and values: all, but for models that mix in others."""
    kinds = config.get("layer_types") or config.get("layers_block_type")
    if isinstance(kinds, list) and len(kinds) >= layers:
        return tuple(str(kind) not in _WITHOUT_CACHE for kind in kinds[:layers])
    pattern = config.get("hybrid_override_pattern")
    if isinstance(pattern, str) and len(pattern) >= layers:
        return tuple(letter == _ATTENTION for letter in pattern[:layers])
    every = whole(config.get("full_attention_interval"), MAX_LAYERS)
    if every:
        return tuple((place + 1) % every == 0 for place in range(layers))
    period, offset = whole(config.get("attn_layer_period"), MAX_LAYERS), whole(config.get("attn_layer_offset")) or 0
    if period:
        return tuple(place % period == offset for place in range(layers))
    return (True,) * layers


def _first(config: Config, most: int | None, *keys: str) -> int | None:
    """The first of `keys` that is a whole number."""
    found = (whole(config.get(key)) if most is None else whole(config.get(key), most) for key in keys)
    return next((value for value in found if value is not None), None)


def _per_layer(config: Config, layers: int | None, *keys: str) -> tuple[int, ...] | None:
    """One number for each layer, from a list or from one number for all."""
    for key in keys:
        value = config.get(key)
        if isinstance(value, list) and layers is not None and len(value) == layers:
            return _whole_numbers(value)
        single = whole(value)
        if single is not None:
            return None if layers is None else (single,) * layers
    return None


def _whole_numbers(values: Sequence[object]) -> tuple[int, ...] | None:
    counts = [whole(value) for value in values]
    return None if None in counts else tuple(count or 0 for count in counts)


def _kv_heads(config: Config, layers: int | None, heads: tuple[int, ...] | None) -> tuple[int, ...] | None:
    told = _per_layer(config, layers, "num_key_value_heads", "num_kv_heads", "multi_query_group_num")
    if config.get("multi_query") is True and layers is not None:
        told = (1,) * layers
    counts = told or heads
    if counts is None or layers is None:
        return None
    cached = attention_layers(config, layers)
    return tuple(count if keeps else 0 for count, keeps in zip(counts, cached, strict=True))


def _key_length(config: Config) -> int | None:
    """Keys of latent attention have a part that turns with the position, and one that does not."""
    still, turning = whole(config.get("qk_nope_head_dim")), whole(config.get("qk_rope_head_dim"))
    return None if still is None or turning is None else still + turning


def _quotient(embedding: int | None, heads: tuple[int, ...] | None) -> int | None:
    return embedding // heads[0] if embedding and heads and heads[0] else None
