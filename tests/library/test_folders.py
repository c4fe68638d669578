import pytest
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.made_folders import (
    CONFIG,
    put_exl2,
    put_exl3,
    put_genai,
    put_mlx,
    put_openvino,
    put_plain,
    put_weights,
    write_json,
)

from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.variant import Role
from weighbridge.library.folders import folder_title
from weighbridge.library.index import Library
from weighbridge.library.scan import scan


def one(folder):
    (model,) = scan([folder], Task())
    return model


def test_a_folder_of_mlx_is_one_model(tmp_path):
    size = put_mlx(tmp_path / "mlx-community" / "Qwen3-4B-4bit", shards=2)
    model = one(tmp_path)
    assert (model.id, model.format, model.quant, model.guessed) == ("Qwen3-4B-4bit", "mlx", "4bit g64", False)
    assert model.path == tmp_path / "mlx-community/Qwen3-4B-4bit"
    assert [part.name for part in model.parts] == [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    assert (model.size_bytes, model.problem) == (size, None)
    assert (model.kind, model.info.layers, model.info.context_length) == (Kind.CHAT, 2, 4096)
    assert (model.info.kv_heads, model.info.key_length, model.info.config["hidden_size"]) == ((2, 2), 32, 128)


def test_each_format_is_one_row(tmp_path):
    sizes = {
        "A-exl3": put_exl3(tmp_path / "A-exl3", 3.0),
        "B-4.0bpw-h6-exl2": put_exl2(tmp_path / "B-4.0bpw-h6-exl2"),
        "C": put_plain(tmp_path / "C"),
        "D-int4-ov": put_openvino(tmp_path / "D-int4-ov"),
        "E": put_genai(tmp_path / "E"),
    }
    models = scan([tmp_path], Task())
    assert {model.id: model.size_bytes for model in models} == sizes
    assert [(model.format, model.quant, model.guessed) for model in models] == [
        ("exl3", "3.0 bpw h6", False),
        ("exl2", "4.0 bpw h6", True),
        ("safetensors", "BF16", False),
        ("openvino", "int4", True),
        ("onnx", None, False),
    ]
    assert all(model.kind is Kind.CHAT and model.problem is None for model in models)


def test_the_tensors_tell_exl2_under_any_name(tmp_path):
    put_exl2(tmp_path / "some-model", "model.safetensors")
    model = one(tmp_path)
    assert (model.format, model.quant, model.guessed) == ("exl2", None, False)


def test_a_name_alone_does_not_make_plain_weights_exl2(tmp_path):
    put_plain(tmp_path / "some-4.0bpw-exl2")
    model = one(tmp_path)
    assert (model.format, model.quant, model.guessed) == ("safetensors", "BF16", False)


def test_mlx_that_is_not_quantised_is_told_by_its_files(tmp_path):
    write_json(tmp_path / "m" / "config.json", CONFIG)
    put_weights(tmp_path / "m" / "model.safetensors", {"a": ("BF16", (4,))}, {"format": "mlx"})
    model = one(tmp_path)
    assert (model.format, model.quant, model.guessed) == ("mlx", "BF16", False)


def test_missing_shards_are_named_and_what_is_here_is_counted(tmp_path):
    put_mlx(tmp_path / "m", shards=3)
    gone = tmp_path / "m" / "model-00002-of-00003.safetensors"
    size = sum(path.stat().st_size for path in (tmp_path / "m").glob("*.safetensors")) - gone.stat().st_size
    gone.unlink()
    model = one(tmp_path)
    assert model.problem.code == "model.part_missing"
    assert model.problem.values == {"missing": gone.name, "here": 2, "count": 3}
    assert model.size_bytes == size


def test_an_index_without_its_shards_is_an_incomplete_model(tmp_path):
    write_json(tmp_path / "m" / "config.json", CONFIG)
    write_json(
        tmp_path / "m" / "model.safetensors.index.json", {"weight_map": {"a": "model-00001-of-00001.safetensors"}}
    )
    assert one(tmp_path).problem.values["missing"] == "model-00001-of-00001.safetensors"


def test_a_folder_for_each_size_is_a_model_for_each(tmp_path):
    for bits in ("4.00", "6.50"):
        put_exl3(tmp_path / "K2-EXL3" / f"{bits}bpw", float(bits))
    assert [(model.id, model.quant) for model in scan([tmp_path], Task())] == [
        ("K2-EXL3-4.00bpw", "4.0 bpw h6"),
        ("K2-EXL3-6.50bpw", "6.5 bpw h6"),
    ]


def test_copies_below_a_model_are_no_models(tmp_path):
    put_plain(tmp_path / "gpt-oss")
    write_json(tmp_path / "gpt-oss" / "original" / "config.json", {"num_hidden_layers": 24})
    put_weights(tmp_path / "gpt-oss" / "original" / "model.safetensors", {"a": ("BF16", (4,))})
    assert one(tmp_path).path == tmp_path / "gpt-oss"


def test_a_pipeline_of_pictures_is_one_row_and_not_for_chat(tmp_path):
    write_json(tmp_path / "flux" / "model_index.json", {"_class_name": "FluxPipeline"})
    write_json(tmp_path / "flux" / "text_encoder" / "config.json", {"model_type": "clip_text_model"})
    size = put_weights(tmp_path / "flux" / "text_encoder" / "model.safetensors", {"a": ("BF16", (4,))})
    model = one(tmp_path)
    assert (model.id, model.format, model.kind, model.size_bytes) == ("flux", "diffusers", Kind.IMAGE, size)


def test_lone_safetensors_are_no_models(tmp_path):
    put_weights(tmp_path / "loras" / "style.safetensors", {"a": ("BF16", (4,))})
    (tmp_path / "model.onnx").write_bytes(b"x")
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    write_json(tmp_path / "config.json", CONFIG)
    assert scan([tmp_path], Task()) == ()


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"a": NaN}', b"{" * 10_000])
def test_a_config_that_cannot_be_read_is_a_row_with_its_problem(tmp_path, content):
    put_plain(tmp_path / "m")
    (tmp_path / "m" / "config.json").write_bytes(content)
    model = one(tmp_path)
    assert (model.id, model.problem.code) == ("m", "json.damaged")


def test_a_config_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("weighbridge.formats.local.CONFIG_LIMIT_BYTES", 50)
    put_plain(tmp_path / "m")
    assert one(tmp_path).problem.code == "json.damaged"


def test_code_that_wants_to_run_is_told(tmp_path):
    put_mlx(tmp_path / "m", auto_map={"AutoModel": "modeling.Model"})
    assert one(tmp_path).asks_to_run_code


def test_snapshots_of_the_hub_bear_their_repositorys_name_and_count_once(tmp_path):
    repository = tmp_path / "models--mlx-community--Qwen3-4B-4bit"
    put_mlx(repository / "blobs-of")
    for commit in ("aaa", "bbb"):
        snapshot = repository / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for blob in (repository / "blobs-of").iterdir():
            (snapshot / blob.name).symlink_to(blob)
    models = scan([repository / "snapshots"], Task())
    assert [(model.id, model.problem) for model in models] == [("Qwen3-4B-4bit", None)]
    assert len(models[0].parts) == 1


def test_titles(tmp_path):
    assert folder_title(tmp_path / "a" / "My-Model") == "My-Model"
    assert folder_title(tmp_path / "My-Model" / "8.00bpw") == "My-Model-8.00bpw"
    assert folder_title(tmp_path / "My-Model" / "3.5bpw_H6") == "My-Model-3.5bpw_H6"
    assert folder_title(tmp_path / "models--a--b--c" / "snapshots" / "abc") == "c"
    assert folder_title(tmp_path / "models--gpt2" / "snapshots" / "abc") == "gpt2"


def test_ways_to_name_a_folder(tmp_path):
    put_mlx(tmp_path / "mlx-community" / "Qwen3-4B-4bit")
    library = Library([tmp_path])
    library.scan()
    folder = tmp_path / "mlx-community" / "Qwen3-4B-4bit"
    for name in ("qwen3-4b-4bit", "mlx-community/qwen3-4b-4bit", str(folder), str(folder / "model.safetensors")):
        assert library.resolve(name).path == folder


def test_one_folder_with_two_formats_is_two_models(tmp_path):
    put_plain(tmp_path / "m")
    put_openvino(tmp_path / "m")
    models = scan([tmp_path], Task())
    assert len({model.id for model in models}) == 2
    assert {model.format for model in models} == {"safetensors", "openvino"}


def test_gguf_files_in_a_folder_of_weights_are_models_too(tmp_path):
    put_plain(tmp_path / "m")
    (tmp_path / "m" / "m-Q8_0.gguf").write_bytes(gguf(LLAMA))
    assert [model.id for model in scan([tmp_path], Task())] == ["m", "m-Q8_0"]


def test_a_folder_is_looked_into_again_only_when_it_changed(tmp_path, monkeypatch):
    put_mlx(tmp_path / "m")
    library = Library([tmp_path])
    library.scan()
    monkeypatch.setattr("weighbridge.library.headers.models_of", None)
    assert library.scan()[0].quant == "4bit g64"
    monkeypatch.undo()
    put_mlx(tmp_path / "m", quantization={"group_size": 32, "bits": 8})
    assert library.scan()[0].quant == "8bit g32"


# helpers beside GGUF files


def put(folder, name, keys=None):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf(LLAMA if keys is None else keys))


def test_helpers_are_shown_beside_their_model(tmp_path):
    put(tmp_path, "r/m-Q4_0.gguf")
    put(tmp_path, "r/mmproj-F16.gguf", {"general.architecture": "clip"})
    put(tmp_path, "r/style-lora.gguf", {"general.type": "adapter", "general.architecture": "llama"})
    put(tmp_path, "r/MTP/mtp-m-Q8_0.gguf")
    (tmp_path / "r/imatrix_unsloth.dat").write_bytes(b"x")
    models = {model.id: model for model in scan([tmp_path], Task())}
    assert set(models) == {"m-Q4_0", "style-lora"}
    found = [(helper.role, helper.path.name) for helper in models["m-Q4_0"].companions]
    assert found == [
        (Role.PROJECTOR, "mmproj-F16.gguf"),
        (Role.IMATRIX, "imatrix_unsloth.dat"),
        (Role.DRAFT, "mtp-m-Q8_0.gguf"),
    ]
    assert models["m-Q4_0"].companion(Role.PROJECTOR).size_bytes == (tmp_path / "r/mmproj-F16.gguf").stat().st_size
    assert models["m-Q4_0"].companion(Role.ADAPTER) is None
    assert models["style-lora"].kind is Kind.ADAPTER


def test_a_cut_file_is_one_row_to_be_joined(tmp_path):
    for number in (1, 2):
        (tmp_path / f"m.Q8_0.gguf.part{number}of2").write_bytes(b"GGUF" if number == 1 else b"x")
    model = one(tmp_path)
    assert (model.id, model.quant, model.size_bytes) == ("m.Q8_0", "Q8_0", 5)
    assert model.problem.code == "model.join_first"
    assert model.problem.values == {"name": "m.Q8_0.gguf", "first": "m.Q8_0.gguf.part1of2", "count": 2}


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [
        ("sd3", Kind.IMAGE),
        ("flux", Kind.IMAGE),
        ("bert", Kind.EMBEDDING),
        ("wav2vec", Kind.AUDIO),
        ("brandnew9", Kind.UNKNOWN),
    ],
)
def test_what_a_model_is_for_is_known_before_it_is_loaded(tmp_path, architecture, kind):
    put(tmp_path, "m.gguf", {"general.architecture": architecture})
    assert (one(tmp_path).kind, one(tmp_path).problem) == (kind, None)


def test_a_set_whose_first_part_is_a_stub_has_the_size_of_all(tmp_path):
    for number, size in ((1, 3_000_000), (2, 1_000_000)):
        (tmp_path / f"m-0000{number}-of-00003.gguf").write_bytes(gguf(LLAMA | {"b": number}).ljust(size, b"\0"))
    model = one(tmp_path)
    assert (model.size_bytes, model.problem.values["missing"]) == (4_000_000, "m-00003-of-00003.gguf")
