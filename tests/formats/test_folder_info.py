import json
from pathlib import Path

import pytest
from tests.formats.hub_examples import config, exl3, repository, weights
from tests.formats.test_configs import QWEN3_8B
from tests.formats.test_packed import PACKED, WEIGHTS, tensor

from weighbridge.formats.architectures import Kind
from weighbridge.formats.exl_storage import storage_tensors
from weighbridge.formats.folder_info import brief_folder_info, whole_config, with_tensors
from weighbridge.formats.recognise import recognise
from weighbridge.formats.variant import File, Variant

DATA = Path(__file__).parents[1] / "data"
MLX = Variant("mlx", "", "4bit g64", (File("model.safetensors", 4_600),), Kind.CHAT, bits_per_weight=4.5)


def test_by_its_config_alone_parameters_are_reckoned():
    info = brief_folder_info(MLX, QWEN3_8B)
    assert (info.parameters, info.bits_per_weight, info.full) == (8_190_735_360, 4.5, False)


def test_with_its_tensors_they_are_counted():
    told = QWEN3_8B | {"num_hidden_layers": 1, "quantization": {"group_size": 64, "bits": 4}}
    tensors = [
        *PACKED["mlx"][0],
        tensor("model.embed_tokens.weight", "BF16", 10, 4),
        tensor("lm_head.weight", "BF16", 4),
    ]
    info = with_tensors(brief_folder_info(MLX, told), tensors)
    assert info.full
    assert info.parameters == WEIGHTS + 44
    assert info.active_parameters == WEIGHTS + 4
    assert info.bits_per_weight == pytest.approx((WEIGHTS * 4.5 + 44 * 16) / (WEIGHTS + 44))


def test_where_tensors_cannot_be_counted_the_reckoned_figure_stays():
    variant = Variant("gptq", "", "4bit", (File("model.safetensors", 4_600),), Kind.CHAT)
    info = with_tensors(brief_folder_info(variant, QWEN3_8B), PACKED["gptq"][0])
    assert (info.parameters, info.active_parameters) == (8_190_735_360, 7_568_405_504)


def test_a_quantisation_told_beside_the_config_is_kept_in_it():
    gptq = {"bits": 4, "group_size": 128, "desc_act": False}
    files = {"config.json": {"model_type": "llama"}, "quantize_config.json": gptq}
    merged = whole_config(files.get)
    assert merged == {"model_type": "llama", "quantization_config": gptq}
    info = with_tensors(brief_folder_info(Variant("gptq", "", kind=Kind.CHAT), merged), PACKED["gptq"][0])
    assert info.parameters == WEIGHTS
    assert whole_config({"config.json": {"model_type": "llama"}}.get) == {"model_type": "llama"}
    assert whole_config({}.get) == {}


def test_a_folder_of_onnx_runtime_genai_may_have_no_other_config():
    told = json.loads((DATA / "onnx_tiny" / "genai_config.json").read_text(encoding="utf-8"))
    config = whole_config({"genai_config.json": told}.get)
    info = brief_folder_info(Variant("onnx", ""), config)
    assert (info.architecture, info.layers, info.context_length, info.embedding_length) == ("llama", 2, 512, 32)
    assert (info.kv_heads, info.key_length, info.config["vocab_size"]) == ((1, 1), 16, 258)
    assert info.parameters is None  # the width of a layer is not told
    assert whole_config({"config.json": {"model_type": "qwen3"}, "genai_config.json": told}.get) == {
        "model_type": "qwen3"
    }


@pytest.mark.parametrize("told", [{}, {"model": 3}, {"model": {"type": [], "decoder": 4}}, {"model": {"decoder": []}}])
def test_what_it_says_wrongly_is_not_believed(told):
    info = brief_folder_info(Variant("onnx", ""), whole_config({"genai_config.json": told}.get))
    assert (info.architecture, info.layers) == (None, None)


STORED = {
    "quant_method": "exl3",
    "tensor_storage": {
        "model.embed_tokens": {
            "stored_tensors": {
                "model.embed_tokens.weight": {"shape": [10, 128], "n_bytes": 2560, "dtype": "torch.float16"}
            }
        },
        "model.layers.0.mlp.up_proj": {
            "stored_tensors": {
                "model.layers.0.mlp.up_proj.trellis": {"shape": [8, 4, 48], "n_bytes": 3072, "dtype": "torch.int16"},
                "model.layers.0.mlp.up_proj.suh": {"shape": [128], "n_bytes": 256, "dtype": "torch.float16"},
            },
            "quant_format": "exl3",
            "bits_per_weight": 3,
        },
    },
}


def test_exl3_tells_its_tensors_before_they_are_here():
    tensors = storage_tensors(STORED)
    assert [(each.name.rpartition(".")[2], each.type_name, each.size_bytes) for each in tensors] == [
        ("weight", "F16", 2560),
        ("trellis", "I16", 3072),
        ("suh", "F16", 256),
    ]
    place = repository(
        "a/b-exl3",
        *weights(1),
        json=config(exl3(3.0, 6), model_type="brandnew9") | {"quantization_config.json": STORED},
    )
    (variant,) = recognise(place.files, place.reader(), place.hints())
    assert variant.label == "3.0 bpw h6"
    assert variant.bits_per_weight == pytest.approx((2560 + 3072 + 256) * 8 / (1280 + WEIGHTS))


@pytest.mark.parametrize(
    "told",
    [
        7,
        {"shape": "x", "n_bytes": 2, "dtype": "torch.int8"},
        {"shape": [-1], "n_bytes": 2},
        {"shape": [1 << 62, 4], "n_bytes": 2},
        {"shape": [2]},
        {"shape": [1] * 9, "n_bytes": 1},
    ],
)
def test_a_table_of_nonsense_is_empty(told):
    assert storage_tensors({"tensor_storage": {"m": {"stored_tensors": {"m.weight": told}}}}) == ()
    assert storage_tensors({"tensor_storage": {"m": told}}) == ()
    assert storage_tensors({"tensor_storage": told}) == ()
