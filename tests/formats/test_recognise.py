"""Forty-four real repositories, and what each of them is."""

import pytest
from tests.formats.hub_examples import (
    FP8,
    LLAMA_3_8B,
    MIXED,
    MLX_MXFP4_Q8,
    UNSLOTH,
    W4A16,
    config,
    exl3,
    repository,
    shards,
    weights,
)
from tests.formats.made_gguf import gguf, head

from weighbridge.base.errors import BadFile
from weighbridge.formats.architectures import Kind
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import model_info
from weighbridge.formats.recognise import recognise
from weighbridge.formats.source import BytesSource
from weighbridge.formats.variant import File, Hints, Reader, Role


def recognised(place):
    return recognise(place.files, place.reader(), place.hints())


def mlx(bits, group):
    told = {"group_size": group, "bits": bits}
    return {"config.json": {"model_type": "qwen3", "quantization": told, "quantization_config": told}}


# number, repository, then for each variant: format, label, guessed, number of files, code of its problem
EXAMPLES = [
    (2, repository("unsloth/Kimi-K2.5-GGUF", *shards("UD-Q3_K_XL/Kimi-K2.5-UD-Q3_K_XL-{:05}-of-{:05}.gguf", 11)),
     [("gguf", "UD-Q3_K_XL", True, 11, None)]),
    (3, repository("unsloth/DeepSeek-V4-Flash-GGUF",
                   *shards("UD-IQ3_XXS/DeepSeek-V4-Flash-UD-IQ3_XXS-{:05}-of-{:05}.gguf", 4)),
     [("gguf", "UD-IQ3_XXS", True, 4, None)]),
    (4, repository("unsloth/gemma-4-E2B-it-GGUF", "gemma-4-E2B-it-UD-Q4_K_XL.gguf", "imatrix_unsloth.gguf_file",
                   "mmproj-BF16.gguf"), [("gguf", "UD-Q4_K_XL", True, 1, None)]),
    (5, repository("unsloth/gpt-oss-120b-GGUF", ("gpt-oss-120b-F16.gguf", 65_000_000_000), parameters=116_829_156_672),
     [("gguf", "F16", True, 1, None)]),
    (6, repository("ggml-org/gpt-oss-20b-GGUF", ("gpt-oss-20b-MXFP4.gguf", 12_100_000_000),
                   parameters=20_914_757_184), [("gguf", "MXFP4", False, 1, None)]),
    (7, repository("TheBloke/Llama-2-7B-Chat-GGUF", "llama-2-7b-chat.Q2_K.gguf"), [("gguf", "Q2_K", True, 1, None)]),
    (8, repository("lmstudio-ai/gemma-2b-it-GGUF", "gemma-2b-it-q4_k_m.gguf"), [("gguf", "Q4_K_M", True, 1, None)]),
    (9, repository("Arki05/Grok-1-GGUF", *shards("IQ3_XS/grok-1-IQ3_XS-split-{:05}-of-{:05}.gguf", 9)),
     [("gguf", "IQ3_XS", True, 9, None)]),
    (10, repository("ggml-org/models", "bert-bge-small/ggml-model-f16-big-endian.gguf"),
     [("gguf", "F16", True, 1, "gguf.big_endian")]),
    (12, repository("mradermacher/DeepSeek-R1-Distill-Llama-70B-GGUF",
                    "DeepSeek-R1-Distill-Llama-70B.Q8_0.gguf.part1of2",
                    "DeepSeek-R1-Distill-Llama-70B.Q8_0.gguf.part2of2"),
     [("gguf", "Q8_0", True, 2, "model.join_first")]),
    (13, repository("mradermacher/Huihui-gpt-oss-120b-BF16-abliterated-i1-GGUF",
                    *(f"Huihui-gpt-oss-120b-BF16-abliterated.i1-Q4_K_S.gguf.part{n}of2" for n in (1, 2))),
     [("gguf", "Q4_K_S", True, 2, "model.join_first")]),
    (14, repository("TheBloke/Falcon-180B-Chat-GGUF", *(f"falcon-180b-chat.Q6_K.gguf-split-{n}" for n in "ab")),
     [("gguf", "Q6_K", True, 2, "model.join_first")]),
    (15, repository("stevescot1979/DeepSeek-V3.2-MXFP4-GGUF",
                    *(f"DeepSeek-V3.2-MXFP4-chunk-{n:03}-of-018.gguf" for n in range(1, 19))),
     [("gguf", "MXFP4", True, 18, "model.join_first")]),
    (16, repository("Qwen/Qwen3-Coder-Next-GGUF",
                    *shards("Qwen3-Coder-Next-Q4_K_M/Qwen3-Coder-Next-Q4_K_M-{:05}-of-{:05}.gguf", 4)),
     [("gguf", "Q4_K_M", True, 4, None)]),
    (17, repository("bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-IQ3_M.gguf",
                    "Llama-3.2-3B-Instruct-Q4_0_4_4.gguf", "Llama-3.2-3B-Instruct-Q6_K_L.gguf",
                    "Llama-3.2-3B-Instruct.imatrix"),
     [("gguf", "IQ3_M", True, 1, None), ("gguf", "Q4_0_4_4", True, 1, "gguf.removed_type"),
      ("gguf", "Q6_K_L", True, 1, None)]),
    (18, repository("turboderp/Mixtral-8x7B-instruct-exl2", *shards("output-{:05}-of-{:05}.safetensors", 3),
                    "measurement.json", json=config(), branch="3.5bpw"), [("exl2", "3.5 bpw", True, 3, None)]),
    (19, repository("LoneStriker/Nous-Capybara-34B-8.0bpw-h8-exl2", "output.safetensors", json=config()),
     [("exl2", "8.0 bpw h8", True, 1, None)]),
    (20, repository("turboderp/Qwen2.5-14B-Instruct-exl2", *shards("output-{:05}-of-{:05}.safetensors", 2),
                    json=config({"quant_method": "exl2", "version": "0.2.1", "bits": 3.5, "head_bits": 6}),
                    branch="3.5bpw"), [("exl2", "3.5 bpw h6", False, 2, None)]),
    (21, repository("bartowski/laser-dolphin-mixtral-2x7b-dpo-exl2", "output.safetensors", json=config(), branch="8_0"),
     [("exl2", "8.0 bpw", True, 1, None)]),
    (21, repository("bartowski/laser-dolphin-mixtral-2x7b-dpo-exl2", "output.safetensors", json=config(), branch="6_5"),
     [("exl2", "6.5 bpw", True, 1, None)]),
    (22, repository("Kooten/Kunoichi-DPO-v2-7B-8bpw-exl2", "output.safetensors", json=config()),
     [("exl2", "8.0 bpw", True, 1, None)]),
    (23, repository("turboderp/GLM-5.3-Flash-exl3", *weights(12), json=config(exl3(2.05, 6)), branch="2.05bpw"),
     [("exl3", "2.05 bpw h6", False, 12, None)]),
    (24, repository("turboderp/Qwen3.5-9B-exl3", "README.md", tags=("exl3",)),
     [("exl3", None, False, 0, "model.other_branches")]),
    (25, repository("turboderp/Qwen3.8-27B-exl3", *weights(2),
                    json=config(exl3(3.0, 4, codebook="mul1", mtp_bits=3)), branch="3.00bpw"),
     [("exl3", "3.0 bpw h4", False, 2, None)]),
    (26, repository("MikeRoz/GLM-4.6-exl3", "README.md", "measurement-20-vs-30.json"),
     [("exl3", None, True, 0, "model.other_branches")]),
    (26, repository("MikeRoz/GLM-4.6-exl3", *weights(11), json=config(exl3(2.06, 6)), branch="2.06bpw_H6"),
     [("exl3", "2.06 bpw h6", False, 11, None)]),
    (27, repository("ArtusDev/TheDrummer_Behemoth-R1-123B-v2-EXL3", *weights(7),
                    json=config(exl3(3.5, 6)) | {"quantization_config.json": {"tensor_storage": {}}},
                    branch="3.5bpw_H6"), [("exl3", "3.5 bpw h6", False, 7, None)]),
    (28, repository("vcruz305/K2-Horizon-MoVA-36B-A4B-EXL3",
                    *(name for folder in ("5.00bpw/", "6.50bpw/", "8.00bpw/") for name in weights(2, folder)),
                    json={f"{bits}bpw/config.json": config(exl3(float(bits), 6))["config.json"]
                          for bits in ("5.00", "6.50", "8.00")}),
     [("exl3", "5.0 bpw h6", False, 2, None), ("exl3", "6.5 bpw h6", False, 2, None),
      ("exl3", "8.0 bpw h6", False, 2, None)]),
    (29, repository("amanwalksdownthestreet/NVIDIA-Nemotron-3-Super-120B-A12B-exl3", *weights(3),
                    json=config(exl3(2.0, 16)), branch="2.0bpw-h16"), [("exl3", "2.0 bpw h16", False, 3, None)]),
    (30, repository("mlx-community/Qwen3-4B-Instruct-2507-4bit", *weights(1), json=mlx(4, 64), tags=("mlx",)),
     [("mlx", "4bit g64", False, 1, None)]),
    (31, repository("mlx-community/Qwen3-4B-Instruct-2507-5bit-g32", *weights(1), json=mlx(5, 32), tags=("mlx",)),
     [("mlx", "5bit g32", False, 1, None)]),
    (32, repository("mlx-community/gpt-oss-20b-MXFP4-Q8", *weights(3), json={"config.json": MLX_MXFP4_Q8}),
     [("mlx", "mxfp4 mixed", False, 3, None)]),
    (33, repository("mlx-community/Llama-3.2-1B-Instruct-bf16", *weights(1), json=config(torch_dtype="bfloat16"),
                    tags=("mlx",)), [("mlx", "BF16", False, 1, None)]),
    (34, repository("Qwen/Qwen3-32B-FP8", *weights(7), json=config(FP8)), [("fp8", "FP8", False, 7, None)]),
    (35, repository("Qwen/Qwen3-32B-FP8-Static-PerTensor", *weights(7), json=config({"quant_algo": "FP8"})),
     [("fp8", "FP8", False, 7, None)]),
    (36, repository("deepseek-ai/DeepSeek-V3", *weights(8), "modeling_deepseek.py",
                    json=config(FP8, auto_map={"AutoConfig": "configuration_deepseek.DeepseekV3Config"})),
     [("fp8", "FP8", False, 8, None)]),
    (37, repository("moonshotai/Kimi-K2.5", *weights(8), json={"config.json": {
        "architectures": ["KimiK25ForConditionalGeneration"], "model_type": "kimi_k25",
        "text_config": {"model_type": "kimi_k2", "quantization_config": W4A16}}}),
     [("compressed-tensors", "W4A16", False, 8, None)]),
    (38, repository("moonshotai/Kimi-K3", *weights(8), json=config(
        {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized"})),
     [("mxfp4", "MXFP4", False, 8, None)]),
    (39, repository("nvidia/DeepSeek-V3.1-NVFP4", *weights(8), json=config() | {"hf_quant_config.json": {
        "producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16}}}),
     [("nvfp4", "NVFP4", False, 8, None)]),
    (40, repository("nvidia/DeepSeek-V4-Flash-NVFP4", *weights(8), json=config({**FP8, "moe_quant_algo": "NVFP4"})),
     [("nvfp4", "NVFP4", False, 8, None)]),
    (41, repository("nvidia/Qwen3.6-27B-NVFP4", *weights(4), json=config(MIXED)),
     [("nvfp4", "NVFP4+FP8 mix", False, 4, None)]),
    (42, repository("openai/gpt-oss-20b", *shards("model-{:05}-of-{:05}.safetensors", 3, first=0), "metal/model.bin",
                    "original/model.safetensors",
                    json=config({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})
                    | {"original/config.json": {"num_hidden_layers": 24, "num_experts": 32}}),
     [("mxfp4", "MXFP4", False, 3, None)]),
    (43, repository("TheBloke/Llama-2-13B-chat-GPTQ", *weights(1), branch="gptq-4bit-32g-actorder_True",
                    json=config({"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True})),
     [("gptq", "4bit g32", False, 1, None)]),
    (43, repository("TheBloke/Llama-2-13B-chat-GPTQ", *weights(1), json=config() | {"quantize_config.json": {
        "bits": 4, "group_size": 128, "desc_act": False, "sym": True}}), [("gptq", "4bit g128", False, 1, None)]),
    (44, repository("Qwen/Qwen3-8B", *weights(5), json=config(torch_dtype="bfloat16")),
     [("safetensors", "BF16", False, 5, None)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "expected"),
    [pytest.param(place, expected, id=f"{number} {place.id}") for number, place, expected in EXAMPLES],
)
def test_real_repositories(place, expected):
    found = [
        (each.format, each.label, each.guessed, len(each.files), each.problem and each.problem.code)
        for each in recognised(place)
    ]
    assert found == expected


def test_a_repository_of_thirty_files_is_twenty_five_choices():
    variants = recognised(UNSLOTH)
    assert len(variants) == 25
    assert {variant.format for variant in variants} == {"gguf"}
    assert [len(variant.files) for variant in variants if variant.label == "BF16"] == [2]
    for variant in variants:
        roles = [companion.role for companion in variant.companions]
        assert sorted(roles) == [Role.DRAFT, Role.IMATRIX, Role.PROJECTOR, Role.PROJECTOR]
    named = [companion.file.path for companion in variants[0].companions]
    assert named[:2] == ["mmproj-BF16.gguf", "mmproj-F16.gguf"]


def test_a_file_of_version_1_is_told_by_its_header():
    def header(path):
        with pytest.raises(BadFile) as caught:
            read_header(BytesSource(head(0, 0, version=1)))
        return caught.value

    (variant,) = recognise([File("tinyllamas-stories-260k-f32.gguf", 1000)], Reader(header=header))
    assert (variant.label, variant.problem.code) == ("F32", "gguf.version")


def test_code_that_wants_to_run_is_told():
    by_number = {number: place for number, place, _ in EXAMPLES}
    assert recognised(by_number[36])[0].asks_to_run_code
    assert not recognised(by_number[34])[0].asks_to_run_code
    (tagged,) = recognised(repository("a/b", *weights(1), json=config(), tags=("custom_code",)))
    assert tagged.asks_to_run_code


def header_of(keys):
    return lambda path: model_info(read_header(BytesSource(gguf(keys))), File(path).stem)


def test_a_name_beats_a_header_unless_the_size_shows_it_to_be_impossible():
    files = [File("m-UD-IQ2_M.gguf", 2_710)]
    reader = Reader(header=header_of({"general.architecture": "llama", "general.file_type": 14}))
    (variant,) = recognise(files, reader, Hints(parameters=8_000))
    assert (variant.label, variant.guessed, variant.bits_per_weight) == ("UD-IQ2_M", False, 2.71)
    (variant,) = recognise([File("m-UD-IQ2_M.gguf", 4_600)], reader, Hints(parameters=8_000))
    assert (variant.label, variant.guessed) == ("Q4_K_S", False)


def test_a_folder_names_what_its_files_do_not():
    (variant,) = recognise([File(f"Q5_K_M/m-0000{number}-of-00002.gguf", 5) for number in (1, 2)])
    assert (variant.label, variant.guessed, variant.size_bytes) == ("Q5_K_M", True, 10)


def test_the_missing_part_of_a_set_is_named_and_sizes_are_the_sum():
    files = [File("m-00001-of-00003.gguf", 3_000_000), File("m-00003-of-00003.gguf", 1_000_000)]
    (variant,) = recognise(files)
    assert variant.problem.code == "model.part_missing"
    assert variant.problem.values == {"missing": "m-00002-of-00003.gguf", "here": 2, "count": 3}
    assert variant.size_bytes == 4_000_000


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["m.Q8_0.gguf.part1of3", "m.Q8_0.gguf.part3of3"], "m.Q8_0.gguf.part2of3"),
        (["m.Q8_0.gguf-split-a", "m.Q8_0.gguf-split-c"], "m.Q8_0.gguf-split-b"),
        (["m-chunk-001-of-003.gguf", "m-chunk-003-of-003.gguf"], "m-chunk-002-of-003.gguf"),
    ],
)
def test_the_missing_piece_of_a_cut_file_is_named(names, missing):
    (variant,) = recognise([File(name, 1) for name in names])
    assert (variant.problem.code, variant.problem.values["missing"]) == ("model.part_missing", missing)


def test_a_size_that_is_not_told_makes_the_sum_unknown():
    (variant,) = recognise([File("m-00001-of-00002.gguf", 5), File("m-00002-of-00002.gguf")])
    assert variant.size_bytes is None


def test_unsafe_names_are_refused_one_by_one():
    files = [File("../m-Q8_0.gguf", 1), File("con.safetensors", 1), File("m-Q4_0.gguf", 1), File("a/../b.txt", 1)]
    found = {variant.files[0].path: variant.problem and variant.problem.code for variant in recognise(files)}
    assert found == {"m-Q4_0.gguf": None, "../m-Q8_0.gguf": "file.unsafe_name", "con.safetensors": "file.unsafe_name"}


def test_the_names_of_files_that_are_here_are_past_doubt():
    files = [File("m?.gguf", 1), File("M?.gguf", 1)]
    assert [variant.problem for variant in recognise(files, hints=Hints(local=True))] == [None, None]


def test_shards_that_are_missing_are_named():
    files = [File(name, 10) for name in ["model-00001-of-00004.safetensors", "model-00004-of-00004.safetensors"]]
    (variant,) = recognise([*files, File("config.json", 5)], Reader(json=config().get))
    assert variant.problem.values == {
        "missing": "model-00002-of-00004.safetensors, model-00003-of-00004.safetensors",
        "here": 2,
        "count": 4,
    }


INDEX = "model.safetensors.index.json"


@pytest.mark.parametrize(
    ("here", "told", "missing"),
    [
        (["model-a.safetensors"], ["model-a.safetensors", "model-b.safetensors"], "model-b.safetensors"),
        ([], ["model-a.safetensors"], "model-a.safetensors"),
        (["model.safetensors"], ["model.safetensors", "model-b.safetensors"], None),
        (["output.safetensors"], ["model-00001-of-00002.safetensors"], None),
        (["model-a.safetensors"], ["model-a.safetensors", "../../x.safetensors"], None),
    ],
)
def test_an_index_tells_what_is_missing_unless_it_is_left_over(here, told, missing):
    json = config() | {INDEX: {"weight_map": {f"t{number}": name for number, name in enumerate(told)}}}
    (variant,) = recognise([File(name, 10) for name in [*here, "config.json", INDEX]], Reader(json=json.get))
    assert (variant.problem and variant.problem.values["missing"]) == missing


def test_weights_without_a_config_are_told():
    (variant,) = recognise([File("model.safetensors", 10)])
    assert (variant.format, variant.problem.code) == ("safetensors", "model.no_config")


def test_a_config_that_cannot_be_read_is_told():
    def damaged(path):
        raise BadFile("json.damaged", name=path, reason="x")

    (variant,) = recognise([File("model.safetensors", 10), File("config.json", 5)], Reader(json=damaged))
    assert variant.problem.code == "json.damaged"


EXL_FOLDER = "Llama-3-8B-4.0bpw-h6-exl2"


@pytest.mark.parametrize(
    ("size_bytes", "found"),
    [(4_400_000_000, ("exl2", "4.0 bpw h6", True)), (16_060_000_000, ("safetensors", None, False))],
)
def test_a_name_alone_makes_exl_only_where_the_size_allows_it(size_bytes, found):
    place = repository(EXL_FOLDER, ("model.safetensors", size_bytes), json={"config.json": LLAMA_3_8B})
    (variant,) = recognised(place)
    assert (variant.format, variant.label, variant.guessed) == found
    assert variant.bits_per_weight == pytest.approx(size_bytes * 8 / 8_030_261_248)


def test_bits_per_weight_come_from_sizes_not_from_the_hubs_count_of_words():
    """A packed 4-bit model of 8 B weights: the Hub counts its words, which are an eighth of its weights."""
    place = repository(
        "mlx-community/Llama-3-8B-4bit",
        ("model.safetensors", 4_517_000_000),
        json={"config.json": LLAMA_3_8B | {"quantization": {"group_size": 64, "bits": 4}}},
        parameters=1_254_000_000,
    )
    (variant,) = recognised(place)
    assert variant.size_bytes == 4_517_000_000
    assert variant.bits_per_weight == pytest.approx(4.5, abs=0.01)


def test_other_formats():
    diffusers = repository(
        "a/flux",
        ("flux1-dev.safetensors", 90),
        ("transformer/diffusion_pytorch_model.safetensors", 50),
        ("transformer/diffusion_pytorch_model.fp16.safetensors", 25),
        ("vae/diffusion_pytorch_model.safetensors", 5),
        json={"model_index.json": {"_class_name": "FluxPipeline"}, "vae/config.json": {"model_type": "vae"}},
    )
    openvino = repository(
        "OpenVINO/Qwen3-8B-int4-ov",
        ("openvino_model.xml", 3),
        ("openvino_model.bin", 50),
        ("openvino_tokenizer.xml", 1),
        ("openvino_tokenizer.bin", 2),
        json=config() | {"openvino_config.json": {"quantization_config": {"bits": 4}}},
    )
    genai = repository(
        "microsoft/Phi-4-mini-onnx",
        ("cpu-int4-rtn/model.onnx", 3),
        ("cpu-int4-rtn/model.onnx.data", 50),
        json={"cpu-int4-rtn/genai_config.json": {"model": {"type": "phi3"}}},
    )
    onnx = repository(
        "onnx-community/x", ("onnx/model.onnx", 90), ("onnx/model_q4.onnx", 1), ("onnx/model_q4.onnx_data", 9)
    )
    adapter = repository("a/lora", ("adapter_model.safetensors", 7), json={"adapter_config.json": {"r": 8}})
    bnb = repository("a/b", *weights(1), json=config({"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}))
    awq = repository(
        "a/b", *weights(1), json=config({"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"})
    )
    hqq = repository("a/b", *weights(1), json=config({"quant_method": "hqq", "bits": 3}))

    def told(place):
        return [(each.format, each.label, each.kind, each.size_bytes, each.guessed) for each in recognised(place)]

    assert told(diffusers) == [("diffusers", None, Kind.IMAGE, 55, False)]
    assert told(openvino) == [("openvino", "4bit", Kind.CHAT, 56, False)]
    assert told(genai) == [("onnx", "int4", Kind.CHAT, 53, True)]
    assert told(onnx) == [("onnx", None, Kind.UNKNOWN, 90, False), ("onnx", "q4", Kind.UNKNOWN, 10, True)]
    assert told(adapter) == [("safetensors", None, Kind.ADAPTER, 7, False)]
    assert told(bnb) == [("bitsandbytes", "4bit nf4", Kind.CHAT, 1000, False)]
    assert told(awq) == [("awq", "4bit g128", Kind.CHAT, 1000, False)]
    assert told(hqq) == [("hqq", "3bit", Kind.CHAT, 1000, False)]


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth", "model.ckpt", "m.pkl", "model.pt"])
def test_pickles_are_refused(name):
    (variant,) = recognise([File("config.json", 5), File(f"x/{name}", 100)], Reader(json=config().get))
    assert (variant.format, variant.problem.code, variant.problem.values) == ("pickle", "model.pickle", {"name": name})


def test_pickles_beside_safetensors_do_not_matter():
    (variant,) = recognised(repository("a/b", *weights(1), "pytorch_model.bin", json=config()))
    assert variant.format == "safetensors"


def test_an_empty_place_is_told_as_such():
    (variant,) = recognise([File("README.md", 5), File("training_args.bin", 5)])
    assert (variant.format, variant.problem.code) == ("unknown", "model.nothing_here")
    assert recognise([])[0].problem.code == "model.nothing_here"


def test_a_place_of_helpers_alone_tells_what_they_are():
    (variant,) = recognise([File("mmproj-F16.gguf", 5)])
    assert (variant.kind, variant.label) == (Kind.PROJECTION, "F16")
    (variant,) = recognise([File("LoRA-Qwen2.5-1.5B-f16.gguf", 5)])
    assert variant.kind is Kind.ADAPTER


@pytest.mark.parametrize(
    ("pipeline", "tags", "kind"),
    [
        ("text-generation", (), Kind.CHAT),
        ("sentence-similarity", (), Kind.EMBEDDING),
        ("", ("gguf", "feature-extraction"), Kind.EMBEDDING),
        ("text-to-image", (), Kind.IMAGE),
        ("automatic-speech-recognition", (), Kind.AUDIO),
        ("text-ranking", (), Kind.RERANK),
        ("", ("gguf",), Kind.UNKNOWN),
    ],
)
def test_the_hub_tells_what_a_gguf_is_for(pipeline, tags, kind):
    (variant,) = recognise([File("m-Q4_0.gguf", 5)], hints=Hints(pipeline=pipeline, tags=frozenset(tags)))
    assert variant.kind is kind
