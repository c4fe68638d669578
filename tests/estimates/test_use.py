"""What of a model one token makes an engine touch, from real headers."""

from dataclasses import replace

import pytest
from tests.benchmarks.estimate import DATA
from tests.benchmarks.fit_accuracy import cases, digest
from tests.estimates.made_folders import info
from tests.model_zoo import latent, mixtures, recurrent, windowed

from weighbridge.estimates.blueprint import blueprint
from weighbridge.formats.config_counts import reckoned
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import model_info
from weighbridge.formats.source import BytesSource

MIXTURES = (
    *("mixtral-8x7b", "qwen2-57b-a14b", "qwen3-vl-30b-a3b", "grok-2", "granite-4-h-tiny", "gemma-4-26b-a4b"),
    *("gpt-oss-120b", "llama-4-maverick", "deepseek-v3", "kimi-k2", "qwen3-next-80b-a3b", "qwen3.5-122b-a10b"),
)
QWEN3_30B = {
    "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768,
    "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
    "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936,
}  # fmt: skip


@pytest.fixture(scope="module")
def uses():
    return {case.name: digest(case).use for case in cases(DATA)}


def test_a_mixture(uses):
    use = uses["qwen3-30b-a3b"]
    assert use.expert_share == 8 / 128
    assert use.active_parameters == pytest.approx(3.35e9, rel=0.1)
    assert use.output_parameters == 151_936 * 2048
    assert use.key_length == 128


def test_a_dense_model_whose_output_is_its_embedding(uses):
    use = uses["gemma-3-1b"]
    assert use.expert_share == 1.0
    assert use.output_parameters == 262_144 * 1152
    assert use.active_parameters == pytest.approx(1.0e9, rel=0.01)
    assert use.output_parameters < use.active_parameters


def test_no_model_has_more_parameters_in_its_output_than_it_uses(uses):
    assert len(uses) == 23
    for name, use in uses.items():
        assert use.active_parameters is None or use.output_parameters < use.active_parameters, name


@pytest.fixture(scope="module")
def zoo():
    return {model.name: model for kind in (latent, mixtures, recurrent, windowed) for model in kind.models()}


@pytest.mark.parametrize("name", MIXTURES)
def test_of_the_start_of_a_header_the_experts_are_counted_by_all_parameters(zoo, name):
    """As the Hub counts them, for the table of tensors lies behind all words of the tokenizer."""
    made, whole = zoo[name], zoo[name].info()
    brief = model_info(read_header(BytesSource.start_of(made.header())), f"{name}.Q4_K_M")
    known = blueprint(replace(brief, parameters=whole.parameters), made.file_bytes())
    assert not known.weights.exact
    assert known.use.expert_share == whole.experts_used / whole.experts
    assert known.use.active_parameters == pytest.approx(whole.active_parameters, rel=0.15)
    assert known.weights.expert_sums[-1] == pytest.approx(
        blueprint(whole, made.file_bytes()).weights.expert_sums[-1], rel=0.03
    )


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("qwen3-vl-30b-a3b", None), ("qwen3-vl-30b-a3b", 20 * 10**9), ("jamba-mini", 51_600_000_000), ("grove-moe", 0)],
)
def test_where_the_numbers_do_not_agree_nothing_is_counted(zoo, name, parameters):
    brief = model_info(read_header(BytesSource.start_of(zoo[name].header())), name)
    told = replace(brief, parameters=zoo[name].info().parameters if parameters == 0 else parameters)
    known = blueprint(told, zoo[name].file_bytes())
    assert (known.weights.counted, known.use.active_parameters) == (False, None)


def test_of_a_config_the_experts_are_counted_by_what_a_token_leaves_out():
    counts = reckoned(QWEN3_30B)
    told = replace(info(QWEN3_30B, "mlx"), parameters=counts.parameters, active_parameters=counts.active)
    weights = blueprint(told, 17 * 10**9).weights
    experts = 48 * 3 * 2048 * 768 * 128
    assert weights.counted
    assert weights.total_bytes == 17 * 10**9
    assert weights.expert_sums[-1] == pytest.approx(17 * 10**9 * experts / counts.parameters, rel=0.01)
    assert not blueprint(replace(told, parameters=None), 17 * 10**9).weights.counted
