"""Where the bytes of a file belong."""

from dataclasses import replace

import pytest
from tests.benchmarks.offload_truth import zoo

from weighbridge.estimates.weights import LAZY_BYTES, LayerWeights, weights_of
from weighbridge.formats.architectures import Kind
from weighbridge.formats.gguf import read_header
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import ModelInfo, model_info
from weighbridge.formats.source import BytesSource

F32, F16, Q4_K, UNKNOWN = 0, 1, 12, 999
NOTHING = LayerWeights()


def tensor(name, size_bytes, type_id=F32, shape=(4,), offset=0):
    return Tensor(name, type_id, shape, offset, size_bytes)


def model(*tensors, layers=2, architecture="llama", **keys):
    own = {f"{architecture}.{key}": value for key, value in keys.items()}
    metadata = {"general.architecture": architecture, **own}
    return ModelInfo("gguf", Kind.CHAT, architecture=architecture, layers=layers, tensors=tensors, metadata=metadata)


PLAIN = (
    tensor("token_embd.weight", 1000),
    tensor("output_norm.weight", 8),
    tensor("blk.0.attn_q.weight", 30),
    tensor("blk.1.attn_q.weight", 31),
)


def test_a_model_without_an_output_is_tied():
    weights = weights_of(model(*PLAIN), 2000)
    assert weights.layers == (LayerWeights(30), LayerWeights(31))
    assert (weights.input_bytes, weights.embedding_bytes, weights.output_bytes) == (1000, 1000, 8)
    assert weights.tied
    assert weights.exact
    assert weights.total_bytes == 1069


def test_an_output_of_its_own_is_a_slot():
    weights = weights_of(model(*PLAIN, tensor("output.weight", 900)), 2000)
    assert weights.output_bytes == 908
    assert not weights.tied


@pytest.mark.parametrize("architecture", ["bert", "nomic-bert", "modern-bert"])
def test_an_encoder_gives_out_no_words(architecture):
    assert not weights_of(model(*PLAIN, architecture=architecture), 2000).tied


@pytest.mark.parametrize("name", ["position_embd.weight", "token_types.weight", "per_layer_token_embd.weight"])
def test_what_looks_up_rows_is_input(name):
    weights = weights_of(model(*PLAIN, tensor(name, 70)), 2000)
    assert weights.input_bytes == 1070
    assert weights.embedding_bytes == 1000


@pytest.mark.parametrize(
    "name", ["token_embd_norm.weight", "per_layer_model_proj.weight", "per_layer_proj_norm.weight", "rope_freqs.weight"]
)
def test_some_without_a_number_are_the_first_layers(name):
    weights = weights_of(model(*PLAIN, tensor(name, 5)), 2000)
    assert weights.layers == (LayerWeights(35), LayerWeights(31))


@pytest.mark.parametrize("name", ["altup_proj.weight", "cls.weight", "dense_2.weight", "output_hc_fn.weight"])
def test_others_without_a_number_are_the_outputs(name):
    assert weights_of(model(*PLAIN, tensor(name, 5)), 2000).output_bytes == 13


def test_a_norm_of_the_output_under_another_name():
    weights = weights_of(model(*PLAIN, tensor("token_embd_norm.weight", 5), architecture="lfm2"), 2000)
    assert weights.output_bytes == 13


def test_unused_tensors_are_not_loaded():
    weights = weights_of(model(*PLAIN, tensor("masked_embd_centroids.weight", 5)), 2000)
    assert weights.total_bytes == 1069


@pytest.mark.parametrize(
    ("name", "expert"),
    [
        ("ffn_up_exps.weight", True),
        ("ffn_gate_up_exps.bias", True),
        ("ffn_down_chexps.weight", True),
        ("ffn_gate_exps.scale", True),
        ("ffn_up_shexp.weight", False),
        ("ffn_gate_inp.weight", False),
        ("exp_probs_b.bias", False),
        ("ffn_gate.0.weight", False),
    ],
)
def test_which_tensors_are_experts(name, expert):
    weights = weights_of(model(*PLAIN, tensor(f"blk.1.{name}", 500)), 2000)
    assert weights.layers[1] == (LayerWeights(31, 500) if expert else LayerWeights(531))


def test_both_halves_of_an_encoder_and_decoder():
    weights = weights_of(model(*PLAIN, tensor("enc.blk.0.x.weight", 3), tensor("dec.blk.1.x.weight", 4)), 2000)
    assert weights.layers == (LayerWeights(33), LayerWeights(35))


def test_layers_that_only_predict():
    weights = weights_of(model(*PLAIN, nextn_predict_layers=1), 2000)
    assert weights.layers == (LayerWeights(30),)
    assert weights.predicting == (LayerWeights(31),)
    assert weights.total_bytes == 1038


def test_layers_that_predict_and_are_never_loaded():
    weights = weights_of(model(*PLAIN, architecture="exaone4", nextn_predict_layers=1), 2000)
    assert weights.predicting == (NOTHING,)


def test_more_predicting_layers_than_layers():
    weights = weights_of(model(*PLAIN, nextn_predict_layers=9), 2000)
    assert (weights.layers, len(weights.predicting)) == ((), 2)


def test_blocks_after_the_last_layer_go_with_the_output():
    weights = weights_of(model(*PLAIN, layers=1), 2000)
    assert weights.layers == (LayerWeights(30),)
    assert weights.output_bytes == 39


def test_a_header_that_does_not_count_its_layers():
    assert weights_of(model(*PLAIN, layers=None), 2000).layers == (LayerWeights(30), LayerWeights(31))


def test_a_block_of_an_absurd_number_makes_no_layers():
    weights = weights_of(model(*PLAIN, tensor("blk.99999999999.x.weight", 7), layers=None), 2000)
    assert len(weights.layers) == 2
    assert weights.output_bytes == 15


def test_a_type_that_is_not_known_fills_the_gap_to_the_next():
    tensors = (
        tensor("token_embd.weight", 100, offset=0),
        tensor("blk.0.a.weight", None, UNKNOWN, offset=100),
        tensor("blk.1.a.weight", None, UNKNOWN, offset=350),
    )
    weights = weights_of(model(*tensors), 1000)
    assert weights.layers == (LayerWeights(250), LayerWeights(650))
    assert weights.exact


def test_a_type_that_is_not_known_at_the_end_of_a_part():
    tensors = (tensor("blk.0.a.weight", None, UNKNOWN, offset=700), tensor("blk.1.a.weight", 9, offset=0))
    weights = weights_of(model(*tensors), 1000)
    assert weights.layers == (NOTHING, LayerWeights(9))
    assert not weights.exact


def test_a_huge_per_layer_embedding_is_read_row_by_row():
    small = weights_of(model(*PLAIN, tensor("per_layer_token_embd.weight", LAZY_BYTES)), 1 << 40)
    huge = weights_of(model(*PLAIN, tensor("per_layer_token_embd.weight", LAZY_BYTES + 1)), 1 << 40)
    assert small.lazy_bytes == 0
    assert huge.lazy_bytes == LAZY_BYTES + 1
    assert huge.input_bytes == LAZY_BYTES + 1001


def test_matrices_that_may_be_reordered_by_type():
    tensors = (
        tensor("blk.0.attn_q.weight", 30, Q4_K, (256, 8)),
        tensor("blk.0.attn_k.weight", 10, Q4_K, (256, 16)),
        tensor("blk.0.odd_rows.weight", 5, Q4_K, (256, 7)),
        tensor("blk.0.attn_k_b.weight", 5, Q4_K, (256, 8, 4)),
        tensor("blk.0.plain.weight", 5, F16, (256, 8)),
        tensor("blk.0.ffn_up_exps.weight", 80, Q4_K, (256, 8, 4)),
        tensor("output.weight", 40, Q4_K, (256, 8)),
    )
    weights = weights_of(model(*tensors, layers=1), 2000)
    assert weights.layers == (LayerWeights(55, 80, (("Q4_K", 40),), (("Q4_K", 80),)),)
    assert weights.output_matrices == (("Q4_K", 40),)


def brief(**more):
    metadata = {"general.architecture": "llama", **more.pop("metadata", {})}
    shape = {"layers": 4, "embedding_length": 100, "heads": (4,) * 4, "kv_heads": (1,) * 4, "key_length": 25}
    return ModelInfo(
        "gguf", Kind.CHAT, architecture="llama", quant="Q8_0", value_length=25, metadata=metadata, **(shape | more)
    )


def test_without_a_table_the_size_is_shared_out():
    weights = weights_of(brief(metadata={"llama.vocab_size": 1000}), 1_000_000)
    assert not weights.exact
    assert weights.embedding_bytes == weights.input_bytes == 106_250
    assert weights.tied
    assert weights.total_bytes == pytest.approx(1_000_000, abs=4)
    assert len({layer.total_bytes for layer in weights.layers}) == 1


def test_the_guess_of_an_embedding_is_bounded():
    weights = weights_of(brief(), 300)
    assert weights.embedding_bytes == 100
    assert weights.total_bytes == pytest.approx(300, abs=4)


def test_without_a_table_experts_are_told_from_widths():
    keys = {"llama.expert_feed_forward_length": 50, "llama.leading_dense_block_count": 1}
    weights = weights_of(brief(experts=8, metadata=keys), 1_000_000)
    assert weights.layers[0].expert_bytes == 0
    expected = 3 * 50 * 8 / (50 * 5 + 3 * 50 * 8)
    assert weights.layers[1].expert_bytes / weights.layers[1].total_bytes == pytest.approx(expected, abs=0.001)


def test_nothing_but_a_size():
    weights = weights_of(ModelInfo("mlx", Kind.CHAT), 1000)
    assert weights.layers == (LayerWeights(1000),)
    assert not weights.exact


def test_the_table_of_one_part_is_not_the_whole():
    info = replace(model(*PLAIN), split=(1, 3))
    assert not weights_of(info, 4000).exact
    assert weights_of(info, 1069).exact


MADE = zoo()


@pytest.mark.parametrize("name", MADE)
def test_every_byte_of_a_made_model_has_its_place(name):
    header, _ = MADE[name]
    info = model_info(read_header(BytesSource.start_of(header), full=True), name)
    weights = weights_of(info, 0)
    assert len(weights.layers) + len(weights.predicting) == info.layers
    of_all = weights.total_bytes + sum(layer.total_bytes for layer in weights.predicting)
    assert of_all == sum(each.size_bytes or 0 for each in info.tensors or ())
