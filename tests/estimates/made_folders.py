"""Models that come as folders, in round figures."""

from __future__ import annotations

from typing import Any

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.shape_config import shape_of_config
from weighbridge.estimates.weights import LayerWeights, Weights
from weighbridge.formats.architectures import Kind
from weighbridge.formats.configs import config_info
from weighbridge.formats.model import ModelInfo

GIB = 1 << 30

LLAMA_13B: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "vocab_size": 32000,
}
QWEN3_4B: dict[str, Any] = {
    "model_type": "qwen3",
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}
GPT_OSS_20B: dict[str, Any] = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "num_hidden_layers": 24,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "vocab_size": 201088,
}
DEEPSEEK_V3: dict[str, Any] = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "vocab_size": 129280,
}
QWEN3_5: dict[str, Any] = QWEN3_4B | {
    "model_type": "qwen3_5_text",
    "num_hidden_layers": 4,
    "full_attention_interval": 4,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
}


def info(config: dict[str, Any], variant_format: str) -> ModelInfo:
    return config_info(config, variant_format, Kind.CHAT, None, guessed=False)


def folder(config: dict[str, Any], variant_format: str, layer_bytes: int = GIB) -> Blueprint:
    """A model whose embedding and output take 1 GiB each."""
    found = info(config, variant_format)
    return Blueprint(
        format=variant_format,
        architecture=found.architecture,
        shape=shape_of_config(found),
        weights=Weights((LayerWeights(layer_bytes),) * (found.layers or 0), GIB, GIB, GIB),
    )
