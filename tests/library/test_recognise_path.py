import os
import struct

import pytest
from tests.formats.made_gguf import LLAMA, gguf, head, tensor
from tests.library.made_folders import put_exl3, put_mlx, put_openvino, put_plain, put_weights

from weighbridge.base.errors import BadFile, Cancelled, NotFound, Refused, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.variant import Role
from weighbridge.library.recognise_path import recognise_path

RECORDS = [tensor("token_embd.weight", [32, 8], 8), tensor("output.weight", [32, 8], 8, offset=288)]
CONTENT = gguf(LLAMA, RECORDS, bytes(560))


def fault(path):
    with pytest.raises(WeighbridgeError) as caught:
        recognise_path(path)
    return caught.value


def put(path, content=CONTENT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_file_is_a_model_with_its_full_header(tmp_path):
    put(tmp_path / "other-Q4_0.gguf", b"<!doctype html>")
    model = recognise_path(put(tmp_path / "m-Q8_0.gguf"))
    assert (model.id, model.format, model.quant, model.guessed) == ("m-Q8_0", "gguf", "Q8_0", False)
    assert (model.info.full, model.info.parameters, model.kind) == (True, 512, Kind.CHAT)


def test_a_relative_path_works(tmp_path, monkeypatch):
    put(tmp_path / "m-Q8_0.gguf")
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    assert recognise_path(Path("m-Q8_0.gguf")).path == tmp_path / "m-Q8_0.gguf"


def test_helpers_beside_it_are_found(tmp_path):
    put(tmp_path / "mmproj-F16.gguf", gguf({"general.architecture": "clip"}))
    put(tmp_path / "another-Q8_0.gguf")
    model = recognise_path(put(tmp_path / "m-Q8_0.gguf"))
    assert [(each.role, each.path.name) for each in model.companions] == [(Role.PROJECTOR, "mmproj-F16.gguf")]


def test_a_later_part_stands_for_its_set(tmp_path):
    for number in (1, 2, 3):
        keys = (LLAMA if number == 1 else {}) | {"split.no": number - 1, "split.count": 3}
        put(tmp_path / f"m-Q8_0-0000{number}-of-00003.gguf", gguf(keys, [tensor(f"t{number}", [32, 8], 8)], bytes(288)))
    model = recognise_path(tmp_path / "m-Q8_0-00002-of-00003.gguf")
    assert (model.id, model.path.name, len(model.parts)) == ("m-Q8_0", "m-Q8_0-00001-of-00003.gguf", 3)
    assert [each.name for each in model.info.tensors] == ["t1", "t2", "t3"]
    (tmp_path / "m-Q8_0-00003-of-00003.gguf").unlink()
    error = fault(tmp_path / "m-Q8_0-00002-of-00003.gguf")
    assert (error.code, error.values["missing"]) == ("model.part_missing", "m-Q8_0-00003-of-00003.gguf")


def test_a_piece_is_to_be_joined(tmp_path):
    for number in (1, 2):
        put(tmp_path / f"m.Q8_0.gguf.part{number}of2", b"x")
    assert fault(tmp_path / "m.Q8_0.gguf.part2of2").code == "model.join_first"


def test_a_helper_alone_is_told_by_its_kind(tmp_path):
    model = recognise_path(
        put(tmp_path / "mmproj-F16.gguf", gguf({"general.architecture": "clip"}, RECORDS, bytes(560)))
    )
    assert (model.kind, model.info.full) == (Kind.PROJECTION, True)
    assert fault(put(tmp_path / "imatrix.dat", b"x")).code == "model.nothing_here"


def test_a_file_without_an_ending_is_looked_into(tmp_path):
    model = recognise_path(put(tmp_path / "sha256-abc"))
    assert (model.id, model.format, model.quant, model.info.parameters) == ("sha256-abc", "gguf", "Q4_K_M", 512)
    assert fault(put(tmp_path / "notes.txt", b"hello world")).code == "file.not_gguf"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "file.empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "file.lfs_pointer"),
        (b"<!doctype html>", "file.web_page"),
        (b"PK\x03\x04", "file.not_gguf"),
        (head(0, 0, version=1), "gguf.version"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "gguf.big_endian"),
        (CONTENT[:-1], "file.truncated"),
        (gguf({"split.no": 1, "split.count": 3}), "model.part_renamed"),
    ],
)
def test_what_cannot_be_weighed_is_named(tmp_path, content, code):
    assert fault(put(tmp_path / "m.gguf", content)).code == code


def test_a_type_that_was_removed_is_refused(tmp_path):
    error = fault(put(tmp_path / "m-Q4_0_4_4.gguf"))
    assert (error.code, error.values) == ("gguf.removed_type", {"type": "Q4_0_4_4"})


@pytest.mark.parametrize("name", ["", "model.safetensors", "config.json"])
def test_a_folder_of_weights_and_each_of_its_files_are_that_folder(tmp_path, name):
    put_mlx(tmp_path / "Qwen3-4B-4bit")
    model = recognise_path(tmp_path / "Qwen3-4B-4bit" / name)
    assert (model.id, model.format, model.quant) == ("Qwen3-4B-4bit", "mlx", "4bit g64")
    assert (model.path, model.info.full) == (tmp_path / "Qwen3-4B-4bit", True)


def test_formats_without_a_table_are_told_by_their_config(tmp_path):
    put_openvino(tmp_path / "m-int4-ov")
    for name in ("", "openvino_model.bin", "openvino_model.xml"):
        model = recognise_path(tmp_path / "m-int4-ov" / name)
        assert (model.format, model.quant, model.info.layers) == ("openvino", "int4", 2)


def test_an_incomplete_folder_names_what_is_missing(tmp_path):
    put_mlx(tmp_path / "m", shards=2)
    (tmp_path / "m" / "model-00001-of-00002.safetensors").unlink()
    assert fault(tmp_path / "m").values["missing"] == "model-00001-of-00002.safetensors"


def test_a_folder_of_several_models_names_them(tmp_path):
    for bits in ("4.00", "6.00"):
        put_exl3(tmp_path / "m-exl3" / f"{bits}bpw", float(bits))
    error = fault(tmp_path / "m-exl3")
    assert isinstance(error, Refused)
    assert (error.code, error.values["count"]) == ("model.several", 2)
    assert error.values["names"][0] == str(tmp_path / "m-exl3" / "4.00bpw")


def test_a_folder_of_one_file_is_that_file(tmp_path):
    put(tmp_path / "r" / "m-Q8_0.gguf")
    put(tmp_path / "r" / "mmproj-F16.gguf", gguf({"general.architecture": "clip"}))
    assert recognise_path(tmp_path / "r").path == tmp_path / "r" / "m-Q8_0.gguf"


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth", "m.ckpt", "m.pkl"])
def test_pickles_are_refused(tmp_path, name):
    error = fault(put(tmp_path / name, b"\x80\x02"))
    assert (error.code, error.values) == ("model.pickle", {"name": name})


def test_a_folder_of_pickles_is_refused(tmp_path):
    put(tmp_path / "m" / "pytorch_model.bin", b"\x80\x02")
    put(tmp_path / "m" / "config.json", b"{}")
    assert fault(tmp_path / "m").code == "model.pickle"


def test_weights_without_a_config_are_told(tmp_path):
    put_weights(tmp_path / "loras" / "style.safetensors", {"a": ("BF16", (4,))})
    assert fault(tmp_path / "loras" / "style.safetensors").code == "model.no_config"
    assert fault(tmp_path / "loras").code == "model.no_config"


def test_what_is_not_there_and_what_is_empty(tmp_path):
    error = fault(tmp_path / "nowhere")
    assert (type(error), error.code) == (NotFound, "model.no_file")
    (tmp_path / "empty").mkdir()
    assert fault(tmp_path / "empty").code == "model.nothing_here"
    put_plain(tmp_path / "m")
    assert fault(put(tmp_path / "m" / "notes.json", b"{}") / "deeper").code == "model.no_file"


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(BadFile) as caught:
        recognise_path(tmp_path / "pipe.gguf")
    assert caught.value.code == "file.not_regular"


def test_it_can_be_cancelled(tmp_path):
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        recognise_path(put(tmp_path / "m-Q8_0.gguf"), task)
