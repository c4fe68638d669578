"""Each way of packing, by the shapes that its converter writes for a matrix of 64 by 128 weights."""

import pytest
from tests.formats.made_safetensors import BYTES

from weighbridge.formats.dtypes import BY_NAME
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.packed import Packing, held

ROWS, COLUMNS = 64, 128
WEIGHTS = ROWS * COLUMNS


def tensor(name, dtype, *shape):
    count = 1
    for number in shape:
        count *= number
    return Tensor(name, BY_NAME[dtype], shape, 0, count * BYTES[dtype])


def layer(*parts):
    return [tensor(f"model.layers.0.mlp.up_proj.{name}", dtype, *shape) for name, dtype, *shape in parts]


PACKED = {
    "plain": (layer(("weight", "BF16", 64, 128)), None),
    "fp8": (layer(("weight", "F8_E4M3", 64, 128), ("weight_scale_inv", "F32", 1, 1)), None),
    "mlx": (layer(("weight", "U32", 64, 16), ("scales", "F16", 64, 2), ("biases", "F16", 64, 2)), 4),
    "mlx 6 bits": (layer(("weight", "U32", 64, 24), ("scales", "F16", 64, 2), ("biases", "F16", 64, 2)), 6),
    "awq": (layer(("qweight", "I32", 128, 8), ("qzeros", "I32", 1, 8), ("scales", "F16", 1, 64)), 4),
    "gptq": (
        layer(("qweight", "I32", 16, 64), ("qzeros", "I32", 1, 8), ("scales", "F16", 1, 64), ("g_idx", "I32", 128)),
        4,
    ),
    "exl2": (
        layer(
            ("q_weight", "I32", 18, 64),
            ("q_invperm", "I16", 128),
            ("q_scale", "I32", 4, 8),
            ("q_scale_max", "F16", 4),
            ("q_groups", "I16", 8),
        ),
        None,
    ),
    "exl3": (layer(("trellis", "I16", 8, 4, 48), ("suh", "F16", 128), ("svh", "F16", 64), ("mcg", "I32")), None),
    "compressed": (
        layer(("weight_packed", "I32", 64, 16), ("weight_scale", "BF16", 64, 4), ("weight_shape", "I64", 2)),
        4,
    ),
    "nvfp4 packed": (
        layer(
            ("weight_packed", "U8", 64, 64),
            ("weight_scale", "F8_E4M3", 64, 8),
            ("weight_global_scale", "F32", 1),
            ("input_global_scale", "F32", 1),
        ),
        None,
    ),
    "modelopt": (
        layer(
            ("weight", "U8", 64, 64),
            ("weight_scale", "F8_E4M3", 64, 8),
            ("weight_scale_2", "F32"),
            ("input_scale", "F32"),
        ),
        None,
    ),
    "bitsandbytes": (
        layer(
            ("weight", "U8", 4096, 1),
            ("weight.absmax", "U8", 128),
            ("weight.quant_map", "F32", 16),
            ("weight.quant_state.bitsandbytes__nf4", "U8", 90),
        ),
        None,
    ),
    "int8": (layer(("weight", "I8", 64, 128), ("SCB", "F32", 64)), None),
}


@pytest.mark.parametrize("way", PACKED)
def test_a_packed_matrix_is_counted_in_weights(way):
    tensors, bits = PACKED[way]
    assert held(tensors, Packing(bits), 1, None).parameters == WEIGHTS


def test_experts_packed_in_blocks_are_counted():
    blocks = [
        tensor("model.layers.0.mlp.experts.down_proj_blocks", "U8", 4, 64, 4, 16),
        tensor("model.layers.0.mlp.experts.down_proj_scales", "U8", 4, 64, 4),
    ]
    counted = held(blocks, Packing(), 1, (4, 2))
    assert (counted.parameters, counted.active) == (4 * WEIGHTS, 2 * WEIGHTS)


def test_modules_of_their_own_width_are_counted_by_it():
    tensors = [
        tensor("lm_head.weight", "U32", 64, 32),
        tensor("lm_head.scales", "F16", 64, 2),
        *PACKED["mlx"][0],
    ]
    assert held(tensors, Packing(4, {"lm_head": 8}), 1, None).parameters == 2 * WEIGHTS


def test_words_whose_width_is_not_told_make_the_count_unknown():
    counted = held(PACKED["gptq"][0], Packing(), 1, None)
    assert (counted.parameters, counted.active) == (None, None)


TEXT = [
    tensor("model.embed_tokens.weight", "BF16", 10, 4),
    tensor("model.layers.0.self_attn.q_proj.weight", "BF16", 4, 4),
    tensor("model.layers.0.mlp.experts.0.up_proj.weight", "BF16", 8, 4),
    tensor("model.layers.0.mlp.experts.1.up_proj.weight", "BF16", 8, 4),
    tensor("model.layers.0.mlp.shared_experts.up_proj.weight", "BF16", 5, 4),
    tensor("model.layers.1.mlp.up_proj.weight", "BF16", 100, 4),
    tensor("model.visual.blocks.0.attn.qkv.weight", "BF16", 7, 4),
    tensor("mtp.fc.weight", "BF16", 3, 4),
]
HEAD = tensor("lm_head.weight", "BF16", 10, 4)


def test_what_a_token_touches():
    counted = held([*TEXT, HEAD], Packing(), 1, (2, 1))
    assert counted.parameters == sum(each.elements for each in [*TEXT, HEAD])
    assert counted.active == 16 + 32 + 20 + 40


def test_an_embedding_that_is_the_output_is_touched_where_text_is_written():
    assert held(TEXT, Packing(), 1, (2, 1)).active == 40 + 16 + 32 + 20
    assert held(TEXT, Packing(), 1, (2, 1), generates=False).active == 16 + 32 + 20


def test_experts_without_their_number_leave_what_is_touched_unknown():
    counted = held(TEXT, Packing(), 1, None)
    assert (counted.parameters is None, counted.active) == (False, None)
