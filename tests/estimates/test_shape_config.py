"""The layers of models by their config.json: the published configs of real ones, and what no config may say."""

from collections import Counter
from dataclasses import replace

import pytest
from tests.estimates.made_folders import DEEPSEEK_V3, GPT_OSS_20B, LLAMA_13B, QWEN3_4B, info

from weighbridge.estimates.cache import token_bytes
from weighbridge.estimates.cache_mlx import mlx_state_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Shape
from weighbridge.estimates.shape_config import shape_of_config
from weighbridge.formats.model import MAX_LAYERS

LLAMA_3_1_8B = LLAMA_13B | {
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
GEMMA_3_27B = {
    "model_type": "gemma3_text",
    "hidden_size": 5376,
    "intermediate_size": 21504,
    "num_hidden_layers": 62,
    "num_attention_heads": 32,
    "num_key_value_heads": 16,
    "head_dim": 128,
    "sliding_window": 1024,
    "sliding_window_pattern": 6,
}
GEMMA_3N_E4B = {
    "model_type": "gemma3n_text",
    "hidden_size": 2048,
    "intermediate_size": 16384,
    "num_hidden_layers": 35,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "num_kv_shared_layers": 15,
    "sliding_window": 512,
    "layer_types": [*["sliding_attention"] * 4, "full_attention"] * 7,
}
QWEN3_NEXT_80B = {
    "model_type": "qwen3_next",
    "hidden_size": 2048,
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "full_attention_interval": 4,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
}
KIMI_LINEAR_48B = {
    "model_type": "kimi_linear",
    "hidden_size": 2304,
    "num_hidden_layers": 27,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "linear_attn_config": {
        "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
        "head_dim": 128,
        "num_heads": 32,
        "short_conv_kernel_size": 4,
    },
}
LFM2_1_2B = {
    "model_type": "lfm2",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "conv_L_cache": 3,
    "layer_types": ["full_attention" if place in (2, 5, 8, 10, 12, 14) else "conv" for place in range(16)],
}
LONGCAT_FLASH = {
    "model_type": "longcat_flash",
    "hidden_size": 6144,
    "num_layers": 28,
    "num_attention_heads": 64,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
RECURRENT_GEMMA_2B = {
    "model_type": "recurrent_gemma",
    "hidden_size": 2560,
    "num_hidden_layers": 26,
    "num_attention_heads": 10,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "lru_width": 2560,
    "conv1d_width": 4,
    "attention_window_size": 2048,
    "block_types": ["recurrent", "recurrent", "attention"],
}


def shape(config, variant_format="mlx"):
    return shape_of_config(info(config, variant_format))


def layers(found):
    """How many layers there are of each kind: the widths of keys and values, and the window."""
    return dict(Counter((layer.key_width, layer.value_width, layer.window) for layer in found.layers))


@pytest.mark.parametrize(
    ("config", "expected", "a_token"),
    [
        (LLAMA_3_1_8B, {(1024, 1024, None): 32}, 131_072),
        (QWEN3_4B, {(1024, 1024, None): 36}, 147_456),
        (GPT_OSS_20B, {(512, 512, 128): 12, (512, 512, None): 12}, 24_576),
        (GEMMA_3_27B, {(2048, 2048, 1024): 52, (2048, 2048, None): 10}, 81_920),
        (GEMMA_3N_E4B, {(512, 512, 512): 16, (512, 512, None): 4, (0, 0, None): 15}, 8_192),
        (DEEPSEEK_V3, {(512, 64, None): 61}, 70_272),
        (LONGCAT_FLASH, {(1024, 128, None): 28}, 64_512),
        (QWEN3_NEXT_80B, {(0, 0, None): 36, (512, 512, None): 12}, 24_576),
        (KIMI_LINEAR_48B, {(0, 0, None): 20, (512, 64, None): 7}, 8_064),
        (LFM2_1_2B, {(0, 0, None): 10, (512, 512, None): 6}, 12_288),
        (RECURRENT_GEMMA_2B, {(0, 0, None): 18, (256, 256, 2048): 8}, 0),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) and "model_type" in value else "",
)
def test_real_models(config, expected, a_token):
    found = shape(config)
    assert (found.certainty, layers(found)) == (Certainty.KNOWN, expected)
    assert token_bytes(found, Plan()) == a_token


@pytest.mark.parametrize(
    ("config", "state_bytes"),
    [
        (QWEN3_NEXT_80B, 36 * (3 * (2 * 16 * 128 + 32 * 128) * 2 + 32 * 128 * 128 * 4)),
        (KIMI_LINEAR_48B, 20 * (3 * 3 * 4096 * 2 + 4096 * 128 * 4)),
        (LFM2_1_2B, 10 * 2 * 2048 * 2),
        (RECURRENT_GEMMA_2B, 18 * 4 * 2560 * 2),
        (LLAMA_3_1_8B, 0),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) else "",
)
def test_states_of_real_models(config, state_bytes):
    assert shape(config).total(mlx_state_bytes) == state_bytes


def test_other_engines_keep_every_token_of_a_window_at_most():
    found = shape(GEMMA_3_27B, "exl3")
    assert (found.certainty, layers(found)[2048, 2048, 1024]) == (Certainty.UPPER_BOUND, 52)


@pytest.mark.parametrize("layers_told", [MAX_LAYERS + 1, 1 << 30, -1, 0, "28", None, 28.0])
def test_a_count_of_layers_that_no_model_has_is_unknown(layers_told):
    assert shape({**LONGCAT_FLASH, "num_layers": layers_told}) == Shape((), Certainty.UNKNOWN)
    assert shape({**QWEN3_4B, "num_hidden_layers": layers_told}) == Shape((), Certainty.UNKNOWN)


@pytest.mark.parametrize("shared", [35, 36, 1 << 30])
def test_layers_cannot_all_use_the_cache_of_another(shared):
    assert shape({**GEMMA_3N_E4B, "num_kv_shared_layers": shared}) == Shape((), Certainty.UNKNOWN)


def test_the_last_owner_of_a_cache_may_be_the_only_one():
    found = shape({**GEMMA_3N_E4B, "num_kv_shared_layers": 34})
    assert (found.certainty, layers(found)) == (Certainty.KNOWN, {(512, 512, 512): 1, (0, 0, None): 34})


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (GEMMA_3_27B, "sliding_window"),
        (GPT_OSS_20B, "sliding_window"),
        (RECURRENT_GEMMA_2B, "attention_window_size"),
        ({**LLAMA_3_1_8B, "model_type": "llama4", "attention_chunk_size": 8192}, "attention_chunk_size"),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("told", ["absent", None, 0, "128"])
def test_a_window_of_unknown_length_keeps_every_token_at_most(config, key, told):
    assert shape(config).certainty is Certainty.KNOWN
    without = {name: value for name, value in config.items() if name != key}
    found = shape(without if told == "absent" else {**config, key: told})
    assert found.certainty is Certainty.UPPER_BOUND
    assert found.layers == tuple(replace(layer, window=None) for layer in shape(config).layers)


def test_a_type_of_which_mlx_keeps_everything_needs_no_window():
    found = shape({**GEMMA_3_27B, "model_type": "gemma2", "sliding_window": None})
    assert (found.certainty, layers(found)) == (Certainty.KNOWN, {(2048, 2048, None): 62})
