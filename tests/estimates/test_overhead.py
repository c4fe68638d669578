"""What engines and drivers take beside a model."""

import pytest

from weighbridge.estimates.estimate import Place, PlaceKind
from weighbridge.estimates.overhead import (
    DRIVER_BYTES,
    MIB,
    PROCESS_BYTES,
    dequantised_bytes,
    overhead_bytes,
    process_bytes,
    vocabulary_bytes,
)
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer

HOST = Place("host", "", PlaceKind.HOST)
FULL = Layer(heads=8, key_width=1024, value_width=512)
WINDOWED = Layer(heads=8, key_width=1024, value_width=512, window=1024)
RECURRENT = Layer(conv=1000, state=24)


def card(api, kind=PlaceKind.DEDICATED):
    return Place("card", "", kind, api=api)


def test_host_memory_holds_the_process():
    assert overhead_bytes("llama_server", HOST, 1 << 40) == 48 * MIB
    assert overhead_bytes("exllamav3", HOST) == 1024 * MIB


@pytest.mark.parametrize(
    ("tokens", "tokenizer", "held_mib"),
    [
        (49_152, "gpt2", 68),
        (32_000, "llama", 49),
        (128_256, "gpt2", 116),
        (151_936, "gpt2", 103),
        (262_144, "llama", 97),
    ],
)
def test_the_process_with_its_list_of_tokens_is_what_was_held(tokens, tokenizer, held_mib):
    counted = process_bytes("llama_server") + vocabulary_bytes("llama_server", tokens, tokenizer)
    assert -8 * MIB <= counted - held_mib * MIB <= 20 * MIB


def test_a_list_of_tokens_that_was_not_read_is_a_large_one():
    assert process_bytes("llama_server") + vocabulary_bytes("llama_server", 0, None) == 150 * MIB
    assert vocabulary_bytes("mlx", 151_936, "gpt2") == 0  # counted with its process


def test_an_engine_that_was_not_measured_is_not_free():
    assert process_bytes("something") > 0


@pytest.mark.parametrize("api", ["cuda", "rocm"])
def test_a_card_holds_the_context_and_a_pool(api):
    assert overhead_bytes("llama_server", card(api)) == (330 + 150) * MIB
    assert overhead_bytes("llama_server", card(api), 10_000 * MIB) == (330 + 150 + 200) * MIB


def test_vulkan_takes_less():
    assert overhead_bytes("llama_server", card("vulkan"), 10_000 * MIB) == 150 * MIB


def test_a_card_reached_in_another_way_is_counted_like_the_dearest():
    assert overhead_bytes("llama_server", card("")) == max(DRIVER_BYTES.values())


def test_memory_that_is_one_for_both_holds_process_and_driver():
    place = card("metal", PlaceKind.UNIFIED)
    assert overhead_bytes("mlx", place, 1 << 40) == PROCESS_BYTES["mlx"] + DRIVER_BYTES["metal"]


@pytest.mark.parametrize(
    ("key_type", "value_type", "width"),
    [("f16", "f16", 0), ("q8_0", "q8_0", 1536), ("q4_0", "f16", 1024), ("f16", "q8_0", 512), ("bf16", "bf16", 1536)],
)
def test_a_cache_of_another_type_is_turned_into_16_bits(key_type, value_type, width):
    plan = Plan(context=8192, key_type=key_type, value_type=value_type)
    assert dequantised_bytes([FULL, WINDOWED, RECURRENT], plan, "cuda") == 8192 * width * 2


def test_only_some_kernels_do_so():
    plan = Plan(context=8192, key_type="q8_0", value_type="q8_0")
    assert dequantised_bytes([FULL], plan, "vulkan") == 0
    assert dequantised_bytes([FULL], Plan(key_type="q8_0", flash_attention=False), "cuda") == 0
    assert dequantised_bytes([], plan, "cuda") == 0


def test_a_long_quantised_cache_needs_what_was_measured():
    """Qwen3.5-4B at 256k tokens, measured by others with CUDA: 1.30 GiB of scratch with q8_0, 0.31 without."""
    layer = Layer(heads=16, key_width=4 * 256, value_width=4 * 256)
    plan = Plan(context=262144, key_type="q8_0", value_type="q8_0")
    assert dequantised_bytes([layer] * 8, plan, "cuda") == 1 << 30
