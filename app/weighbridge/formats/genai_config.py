"""The genai_config.json of ONNX Runtime GenAI, by the keys of a config.json: many of its folders have no other.

It tells no width of the feed-forward step, and no more of experts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.formats.quantisation import Config

GENAI = "genai_config.json"
_OF_MODEL = {"type": "model_type", "vocab_size": "vocab_size", "context_length": "max_position_embeddings"}
_OF_DECODER = {
    "hidden_size": "hidden_size",
    "num_hidden_layers": "num_hidden_layers",
    "num_attention_heads": "num_attention_heads",
    "num_key_value_heads": "num_key_value_heads",
    "head_size": "head_dim",
}


def as_config(told: Config) -> dict[str, Any]:
    """What `told` says, by those keys; empty where it says nothing of a model. Values are not looked at."""
    model = told.get("model")
    if not isinstance(model, Mapping):
        return {}
    decoder = model.get("decoder")
    return {**_named(model, _OF_MODEL), **_named(decoder if isinstance(decoder, Mapping) else {}, _OF_DECODER)}


def _named(part: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {name: part[key] for key, name in names.items() if key in part}
