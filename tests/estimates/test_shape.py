"""Rules that few models need, as llama.cpp told them of small ones; and headers of nonsense."""

import random
from dataclasses import replace

import pytest
from tests.model_zoo import latent, recurrent, windowed

from weighbridge.estimates.cache import kv_bytes, state_bytes, token_bytes
from weighbridge.estimates.compute_recurrent import graph_of, recurrent_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty
from weighbridge.estimates.shape_gguf import shape_of_gguf
from weighbridge.formats.gguf import Header
from weighbridge.formats.model import model_info

MIB = 1 << 20
ONE, FOUR, SHARED = (
    Plan(context=16384, slots=slots, unified=unified, batch=2048)
    for slots, unified in ((1, False), (4, False), (4, True))
)
HEADS = {"attention.head_count": 8, "attention.head_count_kv": 2}
MLA = {
    "attention.head_count": 8, "attention.head_count_kv": 1, "attention.key_length": 192, "attention.value_length": 128,
    "attention.key_length_mla": 96, "attention.value_length_mla": 64,
}  # fmt: skip
KDA = {"attention.head_count_kv": (0, 0, 1, 0, 0, 1), "ssm.conv_kernel": 4, "kda.head_dim": 64}
INDEXER = {"attention.indexer.key_length": 128, "attention.indexer.top_k": 512}
WINDOW = {"attention.sliding_window": 512}
GATED = {
    "ssm.conv_kernel": 4, "ssm.inner_size": 512, "ssm.state_size": 64, "ssm.time_step_rank": 8, "ssm.group_count": 4,
}  # fmt: skip

RARE = [
    ("nanbeige", 6, {**HEADS, "num_loops": 2}, (96.0, 96.0, 96.0), 0),
    ("graniteswitch", 6, HEADS, (52.0, 52.0, 52.0), 0),
    ("hrm_text", 8, {**HEADS, "attention.head_count_kv": 8}, (256.0, 256.0, 256.0), 0),
    ("kimi-k3", 6, {**MLA, **KDA}, (12.0, 12.0, 12.0), 0.57),
    ("bailingmoe3", 6, {**MLA, **KDA}, (12.0, 12.0, 12.0), 0.57),
    ("glm5-next", 6, {**MLA, **KDA, **INDEXER, "attention.key_length": 128}, (32.0, 32.0, 32.0), 0.57),
    (
        "qwen4exp", 8, {
            **HEADS, **GATED, **INDEXER, "attention.indexer.key_length": 64, "attention.key_length": 64,
            "attention.value_length": 64, "attention.compress_ratios": (0, 0, 0, 4, 0, 0, 0, 4),
        }, (24.0, 24.0, 24.0), 0.82,
    ),
    (
        "hy_v4", 6, {**MLA, **INDEXER, "attention.indexer.types": (True, False, False, True, False, False)},
        (44.0, 44.0, 44.0), 0,
    ),
    (
        "dots3note", 6, {
            **MLA, **INDEXER, **WINDOW, "attention.key_length_swa": 128, "attention.value_length_swa": 64,
            "attention.sliding_window_pattern": (True, False) * 3,
            "attention.indexer.types": (False, True, False, True, False, False),
        }, (26.75, 29.0, 27.88), 0,
    ),
    ("plamo3", 8, {**HEADS, **WINDOW}, (11.5, 22.0, 16.75), 0),
    ("laguna", 8, {**HEADS, **WINDOW}, (19.0, 28.0, 23.5), 0),
    ("afmoe", 8, {**HEADS, **WINDOW}, (19.0, 28.0, 23.5), 0),
    ("cohere2moe", 8, {**HEADS, **WINDOW}, (19.0, 28.0, 23.5), 0),
    ("exaone-moe", 8, {**HEADS, **WINDOW}, (19.0, 28.0, 23.5), 0),
    ("smallthinker", 8, {**HEADS, **WINDOW}, (29.5, 64.0, 64.0), 0),
]  # fmt: skip
"""Architecture, layers, keys; the cache in MiB for one slot, four, and four that share it; one slot's state in MiB."""


def shape(architecture, **keys):
    """Of a header that has no more than these keys."""
    named = {f"{architecture}.{name.replace('__', '.')}": value for name, value in keys.items()}
    return shape_of_gguf(model_info(Header(3, 0, {"general.architecture": architecture, **named}, True, 0), "made"))


@pytest.mark.parametrize(("architecture", "layers", "keys", "cache", "state"), RARE, ids=[rare[0] for rare in RARE])
def test_a_rare_rule_gives_what_the_engine_says(architecture, layers, keys, cache, state):
    found = shape(architecture, block_count=layers, embedding_length=512, **keys)
    ours = tuple(kv_bytes(found, plan) / MIB for plan in (ONE, FOUR, SHARED))
    assert ours == pytest.approx(cache, abs=0.01)
    assert state_bytes(found, FOUR) / MIB == pytest.approx(4 * state, abs=0.02)


def test_nothing_is_known_without_the_number_of_layers():
    assert shape("llama", embedding_length=512).certainty is Certainty.UNKNOWN


def test_nothing_is_known_without_heads_where_there_is_attention():
    assert shape("llama", block_count=2, embedding_length=512).certainty is Certainty.UNKNOWN


def test_nothing_is_known_of_a_state_without_its_widths():
    assert shape("mamba", block_count=2, embedding_length=512).certainty is Certainty.UNKNOWN


def test_embedding_models_keep_nothing():
    found = shape("bert", block_count=2, embedding_length=512, **HEADS)
    assert (kv_bytes(found, ONE), found.certainty) == (0, Certainty.KNOWN)


def test_layers_that_predict_are_apart():
    found = shape("glm4moe", block_count=5, embedding_length=512, nextn_predict_layers=1, **HEADS)
    assert (len(found.layers), len(found.predicting)) == (4, 1)


def test_glm_shares_its_indexers_where_the_context_is_long():
    told = {"block_count": 10, "embedding_length": 512, **MLA, **INDEXER}
    short, long = (shape("glm-dsa", context_length=length, **told) for length in (202_752, 1_048_576))
    assert [layer.index is not None for layer in short.layers] == [True] * 10
    assert [number for number, layer in enumerate(long.layers) if layer.index] == [0, 1, 2, 6]


def test_values_are_as_wide_as_the_widest_without_flash_attention():
    told = {"block_count": 2, "embedding_length": 512, "attention.head_count": 8, "attention.head_count_kv": (8, 2)}
    found = shape("llama", **told)
    plain = replace(ONE, flash_attention=False)
    assert kv_bytes(found, ONE) == 16384 * 2 * (2 * 512 + 2 * 128)
    assert kv_bytes(found, plain) == 16384 * 2 * (512 + 128 + 2 * 512)


NONSENSE = (0, -1, 7, 1 << 31, 3.5, "x", True, (), (0,) * 5, (True,) * 200, (1 << 30,) * 100)


@pytest.mark.parametrize("seed", range(4))
def test_nonsense_is_borne(seed):
    chance = random.Random(seed)
    models = [*recurrent.models(), *windowed.models(), *latent.models()]
    for model in chance.sample(models, 12):
        info = model.info()
        keys, tensors = dict(info.metadata), list(info.tensors)
        for name in chance.sample(sorted(keys.keys() - {"general.architecture"}), 3):
            keys[name] = chance.choice(NONSENSE)
        for number in chance.sample(range(len(tensors)), 5):
            wrong = chance.choice([(), (0,), (1,), (1 << 31, 1 << 30), (3, 3, 3, 3)])
            tensors[number] = replace(tensors[number], shape=wrong)
        damaged = model_info(Header(3, 0, keys, True, 0, tuple(tensors)), "made")
        found = shape_of_gguf(damaged)
        assert min(kv_bytes(found, ONE), state_bytes(found, FOUR), token_bytes(found, ONE)) >= 0
        graph = graph_of(damaged, found)
        assert graph is None or recurrent_bytes(graph, FOUR, 0, range(len(graph.layers))) > 0
