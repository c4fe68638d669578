"""The compute buffer of made models against what llama.cpp itself would set aside for them."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.model_zoo import further, latent, mixtures, odd, plain, windowed
from tests.model_zoo.settings import setting

from weighbridge.estimates.activations import activations
from weighbridge.estimates.compute import PIPELINE_COPIES, compute_bytes, output_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape_gguf import shape_of_gguf
from weighbridge.formats.architectures import Kind
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import ModelInfo

MIB = 1 << 20
SHARE, MEAN = 0.17, 0.01
"""Off by so much at the most, and in the mean."""
DATA = Path(__file__).parents[1] / "data"
ANSWERS = json.loads((DATA / "zoo_recurrent.json").read_text()) | json.loads((DATA / "zoo.json").read_text())
MODELS = {model.name: model for zoo in (plain, mixtures, odd, further, windowed, latent) for model in zoo.models()}
UNSEEN = [model.name for model in further.models()]
PLAN = Plan(context=4096, unified=False, batch=2048)
LLAMA = "llama-2-7b"


@cache
def digest(name):
    info = MODELS[name].info()
    return activations(info), shape_of_gguf(info)


def compute_mib(name, plan=PLAN, *layers, **place):
    widths, shape = digest(name)
    return compute_bytes(widths, shape, plan, *layers, **place) / MIB


def errors(name):
    """By how much the compute buffer is off, by setting."""
    return {told: compute_mib(name, setting(told).plan) / answer[0] - 1 for told, answer in ANSWERS[name].items()}


@pytest.mark.parametrize("name", MODELS)
def test_the_buffer_is_that_of_the_engine(name):
    assert {told: error for told, error in errors(name).items() if abs(error) > SHARE} == {}


@pytest.mark.parametrize("names", [tuple(MODELS), tuple(UNSEEN)], ids=["all", "unseen"])
def test_it_is_nearly_exact_in_the_mean(names):
    found = [abs(error) for name in names for error in errors(name).values()]
    assert len(found) > 100
    assert sum(found) / len(found) < MEAN


@pytest.mark.parametrize("name", MODELS)
def test_the_buffer_of_the_outputs_is_that_of_the_engine(name):
    widths, _ = digest(name)
    for told, answer in ANSWERS[name].items():
        assert output_bytes(widths, setting(told).plan) / MIB == pytest.approx(answer[1], abs=0.01)


KEYS_ALONE = """
    llama-2-7b mixtral-8x7b starcoder2-3b qwen3-235b-a22b gemma-2-9b deepseek-v3 qwen-7b llama-4-maverick
    nomic-embed-text-v2-moe ernie-4.5-300b-a47b
"""


@pytest.mark.parametrize("name", KEYS_ALONE.split())
def test_the_keys_alone_tell_nearly_as_much_as_the_tensors(name):
    widths, shape = digest(name)
    brief = activations(replace(MODELS[name].info(), tensors=None))
    assert compute_bytes(brief, shape, PLAN) == pytest.approx(compute_bytes(widths, shape, PLAN), rel=0.05)


def test_it_grows_with_the_micro_batch():
    assert compute_mib(LLAMA, replace(PLAN, micro_batch=2048)) == pytest.approx(4 * compute_mib(LLAMA), rel=0.01)


def test_a_batch_is_never_longer_than_the_context():
    assert compute_mib(LLAMA, replace(PLAN, context=256)) == compute_mib(
        LLAMA, replace(PLAN, context=256, micro_batch=256)
    )


def test_all_logits_of_a_batch_may_be_the_most():
    widths, shape = digest("gemma-2-2b")
    every = replace(PLAN, outputs=512)
    assert compute_bytes(widths, shape, every) == 512 * 256000 * 4 + 2 * 4096 * 512 * 2
    assert output_bytes(widths, every) == 256000 * 4  # as long as nobody asks for more than one token's
    assert compute_bytes(widths, shape, every, has_output=False) < compute_bytes(widths, shape, every)


def test_a_place_that_is_handed_the_embedded_text_needs_less():
    halves = compute_mib(LLAMA, PLAN, range(16)), compute_mib(LLAMA, PLAN, range(16, 32), has_input=False)
    assert halves[0] - halves[1] == pytest.approx(2 * 8)
    assert halves[0] == pytest.approx(compute_mib(LLAMA))


def test_a_place_without_layers_embeds_the_text_or_needs_nothing():
    assert compute_mib(LLAMA, PLAN, range(0), has_output=False) == pytest.approx(5 * 8)
    assert compute_mib(LLAMA, PLAN, range(0), has_input=False, has_output=False) == 0


def test_the_inputs_of_a_card_are_there_once_for_each_batch_under_way():
    once = compute_mib(LLAMA, PLAN, range(16), has_input=False)
    copied = compute_mib(LLAMA, PLAN, range(16), has_input=False, copies=PIPELINE_COPIES)
    assert copied - once == pytest.approx((PIPELINE_COPIES - 1) * (4 + 8))


def test_layers_differ():
    dense, sparse = compute_mib("deepseek-moe-16b", PLAN, range(1)), compute_mib("deepseek-moe-16b", PLAN, range(1, 5))
    assert dense != sparse


def test_a_header_that_does_not_tell_the_width_tells_nothing():
    assert activations(ModelInfo(format="gguf", kind=Kind.CHAT, architecture="llama", layers=32)) is None
    assert activations(ModelInfo(format="gguf", kind=Kind.CHAT, architecture="llama", embedding_length=64)) is None


@pytest.mark.parametrize("heads", [None, (), (8,), (8, 8, 8, 8)])
def test_a_header_of_few_words_is_no_error(heads):
    info = ModelInfo(
        format="gguf", kind=Kind.CHAT, architecture="brandnew", layers=3, embedding_length=64, heads=heads
    )  # fmt: skip
    assert compute_bytes(activations(info), shape_of_gguf(info), PLAN) >= 0


def test_tensors_without_dimensions_count_for_nothing():
    names = ("output.weight", "token_embd.weight", "altup_proj.weight", "blk.0.ffn_down.weight", "blk.0.ffn_up.weight")
    tensors = tuple(Tensor(name, 0, (), 0, 4) for name in names)
    info = replace(MODELS[LLAMA].info(), tensors=tensors)
    assert 0 < compute_bytes(activations(info), shape_of_gguf(info), PLAN) < 2 * compute_mib(LLAMA) * MIB
