import random

import pytest
from tests.formats.hub_examples import FP8, MIXED, MLX_MXFP4_Q8, W4A16
from tests.formats.test_configs import GEMMA_3_4B, QWEN3_30B

from weighbridge.formats.folder_info import brief_folder_info, whole_config, with_tensors
from weighbridge.formats.quantisation import plain, quantisation
from weighbridge.formats.recognise import recognise
from weighbridge.formats.variant import File, Reader


def mlx(**told):
    return quantisation({"quantization": {"group_size": 64, "bits": 4, **told}}, ())


@pytest.mark.parametrize(
    ("told", "label", "bits"),
    [
        ({}, "4bit g64", 4.5),
        ({"bits": 8}, "8bit g64", 8.5),
        ({"group_size": 32}, "4bit g32", 5.0),
        ({"bits": 3, "group_size": 128}, "3bit g128", 3.25),
        ({"mode": "affine"}, "4bit g64", 4.5),
        ({"mode": "mxfp4", "group_size": 32}, "mxfp4", 4.25),
        ({"mode": "nvfp4", "group_size": 16}, "nvfp4", 4.5),
        ({"mode": "mxfp8", "group_size": 32, "bits": 8}, "mxfp8", 8.25),
        ({"mode": "newer", "group_size": 32}, "newer", None),
        ({"mode": "\x1b[31m"}, "4bit g64", 4.5),
        ({"lm_head": False}, "4bit g64", 4.5),
        ({"lm_head": {"group_size": 64, "bits": 4}}, "4bit g64", 4.5),
        ({"lm_head": {"group_size": 64, "bits": 6}}, "4bit g64 mixed", None),
        ({"lm_head": {"bits": 4, "group_size": 32, "mode": "mxfp4"}}, "4bit g64 mixed", None),
    ],
)
def test_every_mode_of_mlx(told, label, bits):
    found = mlx(**told)
    assert (found.format, found.label, found.bits_per_weight) == ("mlx", label, bits)


def test_the_bits_of_single_modules_are_kept():
    found = quantisation(MLX_MXFP4_Q8, ())
    assert (found.packed_bits, found.by_module["model.layers.0.self_attn.q_proj"]) == (4, 8)


@pytest.mark.parametrize(
    ("config", "beside", "found"),
    [
        ({"quantization_config": {"bits": 4, "group_size": 64}}, (), ("mlx", "4bit g64")),
        ({"quantization_config": {"bits": 4, "group_size": 128, "desc_act": False}}, (), ("gptq", "4bit g128")),
        ({}, ({"bits": 4, "group_size": -1, "desc_act": True},), ("gptq", "4bit")),
        ({}, ({"zero_point": True, "q_group_size": 128, "w_bit": 4, "version": "GEMM"},), ("awq", "4bit g128")),
        ({"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}, (), ("awq", "4bit g128")),
        ({"quantization_config": {"quant_method": "EXL2", "bits": 4.25, "head_bits": 8}}, (), ("exl2", "4.25 bpw h8")),
        ({"quantization_config": {"quant_method": "exl3"}}, (), ("exl3", None)),
        ({"quantization_config": FP8}, (), ("fp8", "FP8")),
        ({"quantization_config": {**FP8, "moe_quant_algo": "NVFP4"}}, (), ("nvfp4", "NVFP4")),
        ({"quantization_config": MIXED}, (), ("nvfp4", "NVFP4+FP8 mix")),
        ({"quantization_config": {"quant_algo": "MIXED_PRECISION"}}, (), ("modelopt", "mix")),
        ({"quantization_config": {"quant_algo": "W4A8_AWQ"}}, (), ("modelopt", "W4A8_AWQ")),
        ({"text_config": {"quantization_config": W4A16}}, (), ("compressed-tensors", "W4A16")),
        ({"compression_config": W4A16}, (), ("compressed-tensors", "W4A16")),
        (
            {"quantization_config": {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}},
            (),
            ("nvfp4", "NVFP4"),
        ),
        (
            {"quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized"}},
            (),
            ("fp8", "FP8"),
        ),
        ({"quantization_config": {"quant_method": "compressed-tensors"}}, (), ("compressed-tensors", None)),
        ({"quantization_config": {"load_in_8bit": True}}, (), ("bitsandbytes", "8bit")),
        ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}, (), ("bitsandbytes", "4bit")),
        ({"quantization_config": {"quant_method": "torchao"}}, (), ("torchao", None)),
    ],
)
def test_what_configs_tell(config, beside, found):
    told = quantisation(config, beside)
    assert (told.format, told.label) == found


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"quantization": None, "quantization_config": []},
        {"quantization_config": {}},
        {"quantization_config": {"quant_method": 7}},
        {"quantization_config": {"quant_method": "a b\x1b"}},
        {"quantization": {"bits": True, "group_size": 64}},
        {"quantization": {"bits": 4000, "group_size": 64}},
    ],
)
def test_nonsense_tells_of_no_quantisation(config):
    assert quantisation(config, ()) is None


@pytest.mark.parametrize(
    ("config", "label"),
    [
        ({"torch_dtype": "bfloat16"}, "BF16"),
        ({"dtype": "torch.float16"}, "F16"),
        ({"text_config": {"dtype": "float32"}}, "F32"),
        ({"torch_dtype": "int7"}, None),
        ({"torch_dtype": 7}, None),
    ],
)
def test_the_type_of_plain_weights(config, label):
    assert plain(config).label == label


ODD = [None, True, False, 0, -1, 1 << 70, 1.5, "", "x", [], [1], [[1]], {}, {"a": 1}, {"bits": "x"}, [None, "x"]]
CLAIM = {**FP8, **W4A16, "bits": 4, "group_size": 64, "mode": "mxfp4", "quantized_layers": {}, "lm_head": {"bits": 8}}
WHOLE = QWEN3_30B | GEMMA_3_4B | {"quantization_config": CLAIM, "layer_types": [], "auto_map": {}, "torch_dtype": "x"}


@pytest.mark.parametrize("seed", range(200))
def test_no_config_breaks_the_reading(seed):
    chance = random.Random(seed)
    config = dict(WHOLE)
    claim = dict(CLAIM)
    for key in chance.sample(sorted(config), 5):
        config[key] = chance.choice(ODD)
    for key in chance.sample(sorted(claim), 3):
        claim[key] = chance.choice(ODD)
    config[chance.choice(["quantization", "quantization_config", "text_config"])] = chance.choice([claim, *ODD])
    (variant,) = recognise(
        [File("model.safetensors", 100), File("config.json", 5)], Reader(json={"config.json": config}.get)
    )
    info = with_tensors(brief_folder_info(variant, whole_config({"config.json": config}.get)), ())
    assert variant.problem is None
    assert info.format == variant.format
