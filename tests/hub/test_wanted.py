import pytest

from weighbridge.base.errors import BadFile, NotFound, Refused, WeighbridgeError
from weighbridge.formats.variant import Reader
from weighbridge.hub.reference import Reference
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.wanted import is_fetched, variants_of, wanted

EXL3 = {"model_type": "llama", "quantization_config": {"quant_method": "exl3", "bits": 4.0, "head_bits": 6}}
MLX = {"model_type": "llama", "quantization": {"group_size": 64, "bits": 4}}


def repository(*paths, revision="main"):
    return Repository("o/r", revision, "c" * 40, tuple(RemoteFile(path, 1000) for path in paths))


def take(*paths, file=None, quant=None, config=None, **options):
    reader = Reader(json=lambda path: config if path.endswith("config.json") else {})
    return wanted(repository(*paths), Reference("o/r", file=file, quant=quant), reader, **options)


def paths_of(found):
    return [file.path for file in found.files]


def refused(*paths, kind=Refused, **options):
    with pytest.raises(kind) as caught:
        take(*paths, **options)
    return caught.value


QUANTS = ("m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-UD-Q4_K_XL.gguf", "m-Q8_0.gguf")


def test_by_default_as_llama_cpp_picks():
    assert paths_of(take(*QUANTS, "README.md", "config.json")) == ["m-Q4_K_M.gguf"]
    assert paths_of(take("m-Q2_K.gguf", "m-Q8_0.gguf")) == ["m-Q8_0.gguf"]
    assert paths_of(take("m-Q6_K.gguf", "m-IQ2_M.gguf")) == ["m-IQ2_M.gguf"]


def test_the_default_is_whole_where_another_is_not():
    assert paths_of(take("m-Q4_K_M-00001-of-00002.gguf", "m-Q8_0.gguf")) == ["m-Q8_0.gguf"]


@pytest.mark.parametrize(("quant", "path"), [("q2_k", "m-Q2_K.gguf"), ("UD-Q4_K_XL", "m-UD-Q4_K_XL.gguf")])
def test_by_quantisation_in_any_case(quant, path):
    assert paths_of(take(*QUANTS, quant=quant)) == [path]


def test_a_quantisation_that_is_not_there():
    error = refused(*QUANTS, quant="Q5_K_M")
    assert error.code == "hub.no_quant"
    assert error.values["there"] == ["Q2_K", "Q4_K_M", "Q8_0", "UD-Q4_K_XL"]


def test_two_models_of_one_quantisation():
    error = refused("a-Q8_0.gguf", "b-Q8_0.gguf", quant="Q8_0")
    assert error.code == "hub.several"
    assert error.values["there"] == ["a-Q8_0.gguf", "b-Q8_0.gguf"]
    assert paths_of(take("a-Q8_0.gguf", "b-Q8_0.gguf", file="b-Q8_0.gguf")) == ["b-Q8_0.gguf"]


def test_all_parts_of_a_set_by_any_of_them():
    parts = [f"UD-Q2_K_XL/m-UD-Q2_K_XL-{number:05}-of-00003.gguf" for number in (1, 2, 3)]
    assert paths_of(take(*QUANTS, *parts, quant="UD-Q2_K_XL")) == parts
    assert paths_of(take(*QUANTS, *parts, file=parts[1])) == parts
    assert paths_of(take(*QUANTS, *parts, file="UD-Q2_K_XL")) == parts


def test_a_set_with_a_part_missing():
    error = refused("m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf", kind=BadFile)
    assert (error.code, error.values["here"], error.values["count"]) == ("model.part_missing", 2, 3)
    assert error.values["missing"] == "m-Q8_0-00002-of-00003.gguf"


def test_a_file_that_is_not_there():
    error = refused(*QUANTS, file="x.gguf")
    assert error.code == "hub.no_file_there"
    assert "m-Q2_K.gguf" in error.values["there"]


def test_helpers_come_when_asked_for():
    vision = (*QUANTS, "mmproj-F16.gguf", "mmproj-F32.gguf", "imatrix_unsloth.dat", "mtp-m-Q4_K_M.gguf")
    assert paths_of(take(*vision)) == ["m-Q4_K_M.gguf"]
    assert paths_of(take(*vision, quant="Q4_K_M")) == ["m-Q4_K_M.gguf"]
    assert paths_of(take(*vision, with_projector=True)) == ["m-Q4_K_M.gguf", "mmproj-F16.gguf"]
    assert refused(*QUANTS, with_projector=True).code == "hub.no_projector"


FOLDER = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


def test_of_a_folder_what_tells_how_to_run_it_and_no_code():
    left = ("README.md", "modeling_x.py", "pytorch_model.bin", "measurement.json", ".gitattributes", "original/a.json")
    found = take(*FOLDER, *left, config=MLX)
    assert found.variant.format == "mlx"
    assert paths_of(found) == [
        "model.safetensors",
        "chat_template.jinja",
        "tokenizer.json",
        "tokenizer_config.json",
        "config.json",
    ]
    assert found.size_bytes == 5000


def test_one_of_several_folders():
    paths = [f"{bits}/{name}" for bits in ("4.00bpw", "6.50bpw") for name in FOLDER]
    error = refused(*paths, config=EXL3)
    assert (error.code, error.values["there"]) == ("hub.several", ["4.00bpw", "6.50bpw"])
    assert {path.split("/")[0] for path in paths_of(take(*paths, config=EXL3, quant="6.50bpw"))} == {"6.50bpw"}
    assert {path.split("/")[0] for path in paths_of(take(*paths, config=EXL3, file="4.00bpw"))} == {"4.00bpw"}


def test_by_the_bits_of_exl():
    assert take(*FOLDER, config=EXL3, quant="4.0bpw").variant.format == "exl3"


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        (("README.md",), "hub.nothing_to_fetch"),
        ((), "hub.nothing_to_fetch"),
        (("pytorch_model.bin", "config.json"), "model.pickle"),
        (("measurement.json",), "model.other_branches"),
        (("model_index.json", "unet/diffusion.safetensors"), "hub.nothing_to_fetch"),
    ],
)
def test_where_there_is_nothing_to_fetch(paths, code):
    assert refused(*paths, kind=WeighbridgeError).code == code


@pytest.mark.parametrize(
    "name", ["../m.gguf", "..\\m.gguf", "/m.gguf", "C:\\m.gguf", "D:m.gguf", "CON.gguf", "m:ads.gguf", "a/../../m.gguf"]
)
def test_a_name_that_is_not_safe(name):
    assert refused(name, kind=BadFile).code == "file.unsafe_name"
    assert paths_of(take(name, "good-Q8_0.gguf")) == ["good-Q8_0.gguf"]


def test_names_that_differ_in_case_alone():
    assert refused("M-Q8_0.gguf", "m-q8_0.gguf", kind=BadFile).code == "file.name_twin"
    assert refused(*FOLDER, "Tokenizer.json", config=MLX, kind=BadFile).code == "file.name_twin"


def test_kinds_of_files():
    assert is_fetched("a/model.bin", {"a/model.xml"})
    assert not is_fetched("a/model.bin", {"model.xml"})
    assert not any(is_fetched(f"x{ending}", ()) for ending in (".py", ".pt", ".pth", ".pkl", ".ckpt", ".exe", ""))


def test_code_that_poses_as_weights():
    assert paths_of(take("model.onnx", "model.onnx_data_1", "tokenizer.json", config={})) == [
        "model.onnx_data_1",
        "tokenizer.json",
        "model.onnx",
    ]
    assert refused("model.onnx", "model.onnx.py", "config.json", config={}).code == "hub.kind_refused"


def test_weights_without_a_config():
    assert refused("model.safetensors", kind=WeighbridgeError).code == "model.no_config"


def test_what_there_is():
    assert [variant.label for variant in variants_of(repository(*QUANTS))] == ["Q2_K", "Q4_K_M", "Q8_0", "UD-Q4_K_XL"]
    assert isinstance(variants_of(repository())[0].problem, NotFound)
