import os
import sys
from dataclasses import replace

import pytest
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.made_folders import put_mlx

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.library.files import MAX_DEPTH, find_files, found_file
from weighbridge.library.headers import Headers
from weighbridge.library.index import Library
from weighbridge.library.model import key_of
from weighbridge.library.scan import Listing, scan

CONTENT = gguf(LLAMA)


def put(folder, *names, content=CONTENT):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def ids(folder):
    return [model.id for model in scan([folder], Task())]


def test_models_are_found_at_any_depth(tmp_path):
    put(tmp_path, "a.gguf", "x/b.gguf", "1/2/3/4/5/c.GGUF")
    assert ids(tmp_path) == ["a", "b", "c"]


def test_a_row_holds_what_the_header_says(tmp_path):
    put(tmp_path, "owner/repo/tiny.Q8_0.gguf")
    (model,) = scan([tmp_path], Task())
    assert (model.id, model.title, model.format, model.quant) == ("tiny.Q8_0", "tiny.Q8_0", "gguf", "Q8_0")
    assert model.path == tmp_path / "owner/repo/tiny.Q8_0.gguf"
    assert model.parts == (model.path,)
    assert model.size_bytes == len(CONTENT)
    assert model.info.context_length == 8192
    assert model.problem is None


def test_a_damaged_file_is_a_row_and_the_others_still_list(tmp_path):
    put(tmp_path, "bad.Q4_0.gguf", content=b"<!doctype html>")
    put(tmp_path, "good.gguf")
    bad, good = scan([tmp_path], Task())
    assert (bad.id, bad.problem.code, bad.info, bad.quant) == ("bad.Q4_0", "file.web_page", None, "Q4_0")
    assert good.problem is None


def test_a_set_is_one_model_with_the_size_of_all_parts(tmp_path):
    put(tmp_path, *(f"m-Q4_K_M-{number:05}-of-00003.gguf" for number in (1, 2, 3)))
    (model,) = scan([tmp_path], Task())
    assert (model.id, model.quant, model.size_bytes) == ("m-Q4_K_M", "Q4_K_M", 3 * len(CONTENT))
    assert [part.name[-18:] for part in model.parts] == [f"{n:05}-of-00003.gguf"[-18:] for n in (1, 2, 3)]
    assert model.path.name == "m-Q4_K_M-00001-of-00003.gguf"
    assert model.problem is None


def test_the_missing_part_of_a_set_is_named(tmp_path):
    put(tmp_path, "m-00001-of-00003.gguf", "m-00003-of-00003.gguf")
    (model,) = scan([tmp_path], Task())
    assert model.problem.code == "model.part_missing"
    assert model.problem.values == {"missing": "m-00002-of-00003.gguf", "here": 2, "count": 3}
    assert model.size_bytes == 2 * len(CONTENT)


def test_a_part_that_lost_its_name_is_told(tmp_path):
    put(tmp_path, "m.gguf", content=gguf({"split.no": 1, "split.count": 3}))
    (model,) = scan([tmp_path], Task())
    assert (model.problem.code, model.problem.values) == ("model.part_renamed", {"number": 2, "count": 3})


def test_partial_downloads_and_hidden_files_are_passed_over(tmp_path):
    put(tmp_path, "a.gguf.part", "incomplete-b.gguf", ".c.gguf", ".cache/d.gguf", "e.txt")
    put(tmp_path, "m.onnx.part", "m.onnx.part.json", "m.onnx.part.lock", "m.onnx_data.part")
    assert ids(tmp_path) == []


def test_files_that_only_help_a_model_are_no_models(tmp_path):
    put(tmp_path, "mmproj-F16.gguf", content=gguf({"general.architecture": "clip"}))
    put(tmp_path, "vision.gguf", content=gguf({"general.type": "mmproj", "general.architecture": "clip"}))
    put(tmp_path, "imatrix_x.gguf", content=gguf({"general.type": "imatrix"}))
    put(tmp_path, "mmproj-damaged.gguf", content=b"GGUF")
    put(tmp_path, "llama-imatrix-Q4_K_M.gguf")
    assert ids(tmp_path) == ["llama-imatrix-Q4_K_M"]


def test_loops_and_second_ways_to_a_file_count_once(tmp_path):
    put(tmp_path, "a/m.gguf")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b/again.gguf").symlink_to(tmp_path / "a/m.gguf")
    (tmp_path / "b/hard.gguf").hardlink_to(tmp_path / "a/m.gguf")
    assert [model.id for model in scan([tmp_path, tmp_path / "a"], Task())] == ["m"]


def test_what_is_skipped_is_told(tmp_path):
    put(tmp_path, "a.gguf")
    (tmp_path / "gone.gguf").symlink_to(tmp_path / "nowhere")
    put(tmp_path, "/".join(["d"] * (MAX_DEPTH + 1)) + "/deep.gguf")
    search = find_files([tmp_path, tmp_path / "missing"], Task())
    assert [file.path.name for file in search.files] == ["a.gguf"]
    assert [error.code for error in search.skipped] == ["library.skipped"] * 2


def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    assert ids(tmp_path) == []


def test_names_that_clash_get_their_folders(tmp_path):
    put(tmp_path, "ann/one/m.gguf", "ben/two/M.gguf", "other.gguf")
    assert ids(tmp_path) == ["ann/one/m", "ben/two/M", "other"]


def test_names_that_clash_to_the_end_get_their_path(tmp_path):
    put(tmp_path, "x/o/r/m.gguf", "y/o/r/m.gguf")
    root = tmp_path.as_posix()
    assert ids(tmp_path) == [f"{root}/x/o/r/m", f"{root}/y/o/r/m"]


def test_a_whole_model_beside_its_parts_is_told_from_them(tmp_path):
    put(tmp_path, "m.gguf", "m-00001-of-00002.gguf", "m-00002-of-00002.gguf")
    root = tmp_path.as_posix()
    models = scan([tmp_path], Task())
    assert [model.id for model in models] == [f"{root}/m-00001-of-00002.gguf", f"{root}/m.gguf"]
    library = Library([tmp_path])
    library.scan()
    assert [library.resolve(model.id) for model in models] == list(models)


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_names_that_cannot_be_shown_are_mended_and_still_lead_to_the_file(tmp_path):
    for name in (b"bad\xff.gguf", b"new\nline.gguf", b"red\x1b[31m.gguf", "turn\u202e.gguf".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(CONTENT)
    put(tmp_path, "Ünï 😀 'q\".gguf")
    models = scan([tmp_path], Task())
    names = ["bad\ufffd", "new\ufffdline", "red\ufffd[31m", "turn\ufffd", "Ünï 😀 'q\""]
    assert sorted(model.id for model in models) == sorted(names)
    assert all(model.path.read_bytes() == CONTENT for model in models)


def test_past_the_limit_the_search_ends_and_says_so_once(tmp_path, monkeypatch):
    monkeypatch.setattr("weighbridge.library.files.MAX_ENTRIES", 3)
    put(tmp_path, *(f"{folder}/m.gguf" for folder in "abcdef"))
    assert [error.values["path"] for error in find_files([tmp_path], Task()).skipped] == [str(tmp_path)]


def test_an_echo_model_is_a_json_object(tmp_path):
    put(tmp_path, "good.echo", content=b'{"speed": 50}')
    put(tmp_path, "bad.echo", content=b"[1]")
    put(tmp_path, "worse.echo", content=b"[" * 50_000)
    rows = {model.id: (model.format, model.problem and model.problem.code) for model in scan([tmp_path], Task())}
    assert rows == {"good": ("echo", None), "bad": ("echo", "model.echo"), "worse": ("echo", "model.echo")}


def test_a_listing_knows_its_models_by_path_and_format(tmp_path):
    put(tmp_path, "a.gguf", "b.gguf", "c.gguf")
    first, second, third = scan([tmp_path], Task())
    listing = Listing((first, second, third))
    better = replace(second, quant="Q8_0")
    assert listing.known(better) is second
    assert listing.learned(better).models == (first, better, third)
    assert listing.learned(better).known(second) is better
    left = listing.without({key_of(first)})
    assert (left.models, left.known(first), left.learned(first).models) == ((second, third), None, (second, third))
    assert left.learned(better).models == (better, third)


def test_a_model_without_weights_that_two_ways_lead_to_is_one(tmp_path):
    put(tmp_path, "m/config.json", content=b"{}")
    put(
        tmp_path, "m/model.safetensors.index.json", content=b'{"weight_map": {"a": "model-00001-of-00001.safetensors"}}'
    )
    assert len(scan([tmp_path, tmp_path / "m"], Task())) == 1


def test_a_scan_can_be_cancelled(tmp_path):
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        scan([tmp_path], task)


def linked(folder, other, **config):
    """A folder whose weights are links to those of `other`, with a config of its own."""
    put_mlx(folder, **config)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(other / "model.safetensors")


def test_a_folder_whose_weights_are_links_to_another_models_is_a_model_of_its_own(tmp_path):
    put_mlx(tmp_path / "short")
    linked(tmp_path / "same", tmp_path / "short")
    linked(tmp_path / "long", tmp_path / "short", max_position_embeddings=32_768)
    linked(tmp_path / "spoken", tmp_path / "short")
    put(tmp_path, "spoken/chat_template.jinja", content=b"other")
    library = Library([tmp_path, tmp_path / "long"])
    found = {model.id: model for model in library.scan()}
    assert {name: model.info.context_length for name, model in found.items()} == {
        "long": 32_768,
        "same": 4_096,
        "spoken": 4_096,
    }
    for name in ("long", "spoken"):
        assert library.resolve(str(tmp_path / name)).path == tmp_path / name
    assert library.resolve(str(tmp_path / "short")) == found["same"]


def test_a_set_of_links_to_parts_of_other_sets_is_one_of_its_own(tmp_path):
    for name in ("a", "b"):
        for number in (1, 2):
            put(tmp_path, f"{name}/{name}-0000{number}-of-00002.gguf")
    (tmp_path / "c").mkdir()
    for number, name in enumerate(("a", "b"), 1):
        (tmp_path / f"c/c-0000{number}-of-00002.gguf").symlink_to(
            tmp_path / f"{name}/{name}-0000{number}-of-00002.gguf"
        )
    assert ids(tmp_path) == ["a", "b", "c"]


def test_a_scan_that_was_given_up_may_read_on_while_the_next_one_ends(tmp_path):
    headers, late = Headers(), tmp_path / "late.gguf"
    put(tmp_path, "a.gguf", "b.gguf", "late.gguf")

    class Kept(set):
        """Another scan reads a header whenever this is looked into."""

        def __contains__(self, path):
            headers.of(found_file(late, tmp_path, late.stat()))
            return super().__contains__(path)

    for name in ("a.gguf", "b.gguf"):
        headers.of(found_file(tmp_path / name, tmp_path, (tmp_path / name).stat()))
    headers.keep_only(Kept([tmp_path / "a.gguf"]))
    assert list(headers._known) == [tmp_path / "a.gguf"]
