from dataclasses import replace

import pytest

from weighbridge.estimates.simple import simple_memory
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo

MIB = 1 << 20


def model(architecture, layers, kv_heads, length, window=None, **metadata):
    heads = kv_heads if isinstance(kv_heads, tuple) else (kv_heads,) * layers
    return ModelInfo(
        format="gguf",
        kind=Kind.CHAT,
        architecture=architecture,
        layers=layers,
        kv_heads=heads,
        key_length=length,
        value_length=length,
        sliding_window=window,
        metadata=metadata,
    )


@pytest.mark.parametrize(
    ("info", "context", "kv_mib"),
    [
        (model("llama", 32, 8, 128), 4096, 512),
        (model("llama", 32, 8, 128), 32768, 4096),
        (model("qwen3moe", 48, 4, 128), 32768, 3072),
        (model("gpt2", 48, 25, 64), 4096, 1200),
        (model("phi3", 32, 32, 96, window=262144), 8192, 3072),
        (model("starcoder2", 32, 4, 128, window=4096), 32768, 2048),
        (model("llama", 40, 40, 128), 16384, 12800),
    ],
)
def test_plain_attention_is_what_the_engine_allocates(info, context, kv_mib):
    memory = simple_memory(info, 7 * MIB, context)
    assert memory.kv_bytes == kv_mib * MIB
    assert memory.total_bytes == (kv_mib + 7) * MIB
    assert not memory.upper_bound


def test_cells_come_in_steps_of_256():
    info = model("llama", 32, 8, 128)
    assert simple_memory(info, 0, 1).kv_bytes == simple_memory(info, 0, 256).kv_bytes == 32 * MIB
    assert simple_memory(info, 0, 257).kv_bytes == 64 * MIB


def test_layers_without_a_cache_cost_nothing():
    assert simple_memory(model("deci", 4, (8, 0, 0, 8), 128), 0, 4096).kv_bytes == 2 * 16 * MIB


def test_layers_that_only_predict_are_not_counted():
    info = replace(model("glm4moe", 3, 8, 128), metadata={"glm4moe.nextn_predict_layers": 1})
    assert simple_memory(info, 0, 4096).kv_bytes == 2 * 16 * MIB


@pytest.mark.parametrize("architecture", ["gemma3", "gpt-oss", "cohere2", "olmo2"])
def test_a_sliding_window_makes_it_an_upper_bound(architecture):
    memory = simple_memory(model(architecture, 24, 8, 64, window=128), 0, 131072)
    assert memory.upper_bound
    assert memory.kv_bytes == 6144 * MIB


def test_a_context_within_the_window_is_exact():
    assert not simple_memory(model("gemma3", 24, 8, 64, window=1024), 0, 1024).upper_bound


def test_a_window_that_the_engine_ignores_bounds_nothing():
    assert not simple_memory(model("llama", 24, 8, 64, window=128), 0, 131072).upper_bound
    assert not simple_memory(model("olmo2", 24, 8, 64), 0, 131072).upper_bound


@pytest.mark.parametrize("architecture", ["mamba", "deepseek2", "qwen35", "lfm2", "gemma3n", "brandnew9", None])
def test_other_kinds_of_state_are_unknown_not_zero(architecture):
    memory = simple_memory(model(architecture, 24, 8, 64), 100, 4096)
    assert (memory.weights_bytes, memory.kv_bytes, memory.total_bytes) == (100, None, None)


def test_missing_keys_are_unknown():
    assert simple_memory(replace(model("llama", 2, 8, 64), kv_heads=None), 100, 4096).total_bytes is None
    assert simple_memory(replace(model("llama", 2, 8, 64), key_length=None), 100, 4096).total_bytes is None
    assert simple_memory(None, 100, 4096).total_bytes is None


def test_an_encoder_keeps_no_cache():
    assert simple_memory(model("bert", 12, 12, 64), 100, 512).total_bytes == 100


def test_all_experts_are_counted():
    info = replace(model("qwen3moe", 48, 4, 128), experts=128, experts_used=8)
    assert simple_memory(info, 18_000 * MIB, 4096).total_bytes == (18_000 + 384) * MIB
