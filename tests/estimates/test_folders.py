"""Widths, weights and defaults of models that come as folders."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.estimates.made_folders import GPT_OSS_20B, QWEN3_4B, info

from weighbridge.estimates.config_widths import Widths, widths_of
from weighbridge.estimates.defaults import plan_for
from weighbridge.estimates.shape_config import shape_of_config
from weighbridge.estimates.weights import LayerWeights
from weighbridge.estimates.weights_config import weights_of_safetensors
from weighbridge.formats.gguf_tensors import Tensor

ODD = [None, True, -1, 0, 2**70, 1.5, "8", [], [None], {}, {"a": 1}, float("nan")]


def test_widths_of_a_dense_model_and_of_experts():
    assert widths_of(info(QWEN3_4B, "mlx")) == Widths(2560, 151936, 9728, 32, 128)
    assert widths_of(info(GPT_OSS_20B, "mlx")) == Widths(2880, 201088, 4 * (2880 + 2880), 64, 64)


@pytest.mark.parametrize("value", ODD, ids=str)
@pytest.mark.parametrize("key", [*QWEN3_4B, "layer_types", "text_config", "linear_attn_config", "sliding_window"])
def test_no_config_breaks_the_reading(key, value):
    found = info({**QWEN3_4B, key: value}, "mlx")
    shape_of_config(found)
    widths_of(found)
    weights_of_safetensors(found, 10**9)


def tensor(name, size_bytes):
    return Tensor(name, 0, (size_bytes,), 0, size_bytes)


def model(*tensors, layers=2):
    return replace(info({**QWEN3_4B, "num_hidden_layers": layers}, "mlx"), tensors=tensors)


def test_weights_belong_where_their_names_say():
    found = weights_of_safetensors(
        model(
            tensor("model.embed_tokens.weight", 400),
            tensor("model.embed_tokens.scales", 40),
            tensor("model.layers.0.mlp.up_proj.weight", 50),
            tensor("model.layers.1.mlp.switch_mlp.up_proj.weight", 70),
            tensor("model.layers.1.mlp.gate.weight", 5),
            tensor("model.layers.2.mtp_block.weight", 9),
            tensor("vision_tower.blocks.0.attn.weight", 30),
            tensor("lm_head.trellis", 100),
        ),
        size_bytes=710,
    )
    assert found.layers == (LayerWeights(50, 0), LayerWeights(5, 70))
    assert (found.embedding_bytes, found.input_bytes) == (440, 440)
    assert found.output_bytes == 9 + 30 + 100 + 6
    assert (found.total_bytes, found.exact) == (710, True)


def test_weights_of_packed_words_are_what_the_files_take():
    packed = weights_of_safetensors(model(tensor("model.layers.0.mlp.up_proj.weight", 15_100_000_000)), 15_100_000_000)
    assert packed.total_bytes == 15_100_000_000


@pytest.mark.parametrize("tensors", [(), (tensor("model.embed_tokens.weight", 10),)])
def test_weights_without_a_table_are_shared_out(tensors):
    found = weights_of_safetensors(model(*tensors, layers=36), 4_000_000_000)
    assert found.total_bytes == 4_000_000_000
    assert found.embedding_bytes == 151936 * 2560 * 2
    assert not found.exact
    assert len(found.layers) == 36


def test_how_each_engine_starts():
    llama = plan_for("llama_server", 8192, slots=4)
    assert (llama.batch, llama.unified, llama.flash_attention, llama.outputs) == (512, True, True, None)
    binding = plan_for("llama_cpp", 8192)
    assert (binding.batch, binding.outputs, binding.whole_window, binding.flash_attention) == (512, 32, False, True)
    assert plan_for("mlx", 8192).batch == 2048
    assert (plan_for("openvino", 8192).gpu_layers, plan_for("onnx_genai", 8192).gpu_layers) == (None, 0)
    with pytest.raises(TypeError):
        plan_for("mlx", 8192, unknown=1)
