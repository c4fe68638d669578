import threading

import pytest
from tests.formats.made_gguf import LLAMA, gguf, tensor
from tests.library.made_folders import put_mlx, put_openvino

from weighbridge.base.errors import BadFile, Cancelled
from weighbridge.base.task import Task
from weighbridge.library import full_headers
from weighbridge.library.full_headers import FullHeaders
from weighbridge.library.index import Library

RECORDS = [tensor("token_embd.weight", [32, 8], 8), tensor("output.weight", [32, 8], 8, offset=288)]
CONTENT = gguf(LLAMA | {"tokenizer.chat_template": "{{ x }}"}, RECORDS, bytes(560))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "models"
    place.mkdir()
    (place / "tiny.Q8_0.gguf").write_bytes(CONTENT)
    return place


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "headers"


def scanned(folder, kept=None):
    library = Library([folder], kept)
    library.scan()
    return library


def count_reads(monkeypatch):
    read = []

    def reading(model, check):
        read.append(model.id)
        return original(model, check)

    original = full_headers.read_in_full
    monkeypatch.setattr(full_headers, "read_in_full", reading)
    return read


def test_a_full_header_replaces_the_brief_one(folder):
    library = scanned(folder)
    (model,) = library.models
    assert (library.info(model).full, model.info.parameters, model.guessed) == (False, None, True)
    info = library.read_full(model)
    assert info.parameters == 512
    assert (info.active_parameters, info.bits_per_weight, info.has_chat_template) == (256, 8.5, True)
    assert library.info(model) is info
    (now,) = library.models
    assert (now.info, now.quant, now.guessed, now.id) == (info, "Q8_0", False, model.id)


def test_bits_per_weight_show_a_wrong_name(tmp_path):
    (tmp_path / "m-F16.gguf").write_bytes(gguf(LLAMA | {"general.file_type": 7}, RECORDS, bytes(560)))
    library = scanned(tmp_path)
    (model,) = library.models
    assert (model.quant, model.guessed) == ("F16", True)
    library.read_full(model)
    assert (library.models[0].quant, library.models[0].guessed) == ("Q8_0", False)


def test_it_is_read_once_and_also_not_after_another_scan(folder, monkeypatch):
    read = count_reads(monkeypatch)
    library = scanned(folder)
    library.read_full(library.models[0])
    library.read_full(library.models[0])
    library.scan()
    assert library.models[0].info.full
    library.read_all(Task())
    assert read == ["tiny.Q8_0"]


def test_the_next_start_reads_none(folder, kept, monkeypatch):
    first = scanned(folder, kept)
    info = first.read_full(first.models[0])
    read = count_reads(monkeypatch)
    second = scanned(folder, kept)
    assert second.models[0].info == info
    second.read_all(Task())
    assert read == []


def test_a_file_that_changed_is_read_again(folder, kept, monkeypatch):
    library = scanned(folder, kept)
    library.read_all(Task())
    more = [*RECORDS, tensor("blk.0.attn_q.weight", [32, 8], 8, offset=576)]
    (folder / "tiny.Q8_0.gguf").write_bytes(gguf(LLAMA, more, bytes(864)))
    read = count_reads(monkeypatch)
    library.scan()
    assert not library.models[0].info.full
    library.read_all(Task())
    assert (read, library.models[0].info.parameters) == (["tiny.Q8_0"], 768)


def test_a_damaged_entry_is_missing(folder, kept):
    library = scanned(folder, kept)
    library.read_all(Task())
    (entry,) = kept.iterdir()
    entry.write_bytes(entry.read_bytes()[:-3] + b"xyz")
    again = scanned(folder, kept)
    assert not again.models[0].info.full
    assert list(kept.iterdir()) == []
    again.read_all(Task())
    assert again.models[0].info.full


def test_a_place_that_cannot_be_written_to_costs_nothing_but_time(folder, tmp_path):
    (tmp_path / "file").write_text("x")
    library = scanned(folder, tmp_path / "file" / "headers")
    assert library.read_full(library.models[0]).full
    assert library.models[0].info.full


def test_old_entries_are_deleted(folder, kept, monkeypatch):
    monkeypatch.setattr(full_headers, "KEPT_FILES", 2)
    for number in range(4):
        (folder / f"more-{number}.Q8_0.gguf").write_bytes(CONTENT)
    library = scanned(folder, kept)
    library.read_all(Task())
    assert len(list(kept.iterdir())) == 2


def test_a_file_cut_short_is_found_by_reading_it_in_full(folder):
    (folder / "cut.Q8_0.gguf").write_bytes(CONTENT[:-1])
    library = scanned(folder)
    assert [model.problem for model in library.models] == [None, None]
    library.read_all(Task())
    problems = {model.id: model.problem and model.problem.code for model in library.models}
    assert problems == {"cut.Q8_0": "file.truncated", "tiny.Q8_0": None}
    library.scan()
    assert [model.problem.code for model in library.models if model.problem] == ["file.truncated"]
    with pytest.raises(BadFile):
        library.read_full(library.models[0])


def test_all_parts_of_a_set_are_read(tmp_path):
    for number in (1, 2):
        keys = (LLAMA if number == 1 else {}) | {"split.no": number - 1, "split.count": 2}
        name = ("token_embd.weight", "output.weight")[number - 1]
        content = gguf(keys, [tensor(name, [32, 8], 8)], bytes(288))
        (tmp_path / f"m-Q8_0-0000{number}-of-00002.gguf").write_bytes(content)
    library = scanned(tmp_path)
    info = library.read_full(library.models[0])
    assert ([each.name for each in info.tensors], info.parameters) == (["token_embd.weight", "output.weight"], 512)


def test_a_folder_of_weights_is_read_through_all_its_shards(tmp_path, kept):
    place = tmp_path / "models"
    size = put_mlx(place / "m", shards=2)
    library = scanned(place, kept)
    info = library.read_full(library.models[0])
    assert len(info.tensors) == 8
    assert info.parameters == 2 * 64 * 128 + 2 * 1280
    assert info.active_parameters == 2 * 64 * 128 + 1280
    assert info.has_chat_template
    assert sum(each.size_bytes for each in info.tensors) < size
    assert scanned(place, kept).models[0].info == info


def test_a_shard_cut_short_is_told(tmp_path):
    put_mlx(tmp_path / "m")
    weights = tmp_path / "m" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    library = scanned(tmp_path)
    with pytest.raises(BadFile) as caught:
        library.read_full(library.models[0])
    assert caught.value.code == "file.truncated"
    assert library.models[0].problem.code == "file.truncated"


def test_formats_without_a_table_have_what_their_config_says(tmp_path):
    put_openvino(tmp_path / "m")
    (tmp_path / "x.echo").write_text("{}")
    library = scanned(tmp_path)
    library.read_all(Task())
    models = {model.id: model for model in library.models}
    assert library.read_full(models["m"]).layers == 2
    assert library.read_full(models["x"]) is None


def test_listeners_are_told_of_each_model_until_they_leave(folder):
    (folder / "cut.Q8_0.gguf").write_bytes(CONTENT[:-1])
    library = scanned(folder)
    told = []
    leave = library.subscribe(lambda model: told.append((model.id, model.problem is None, threading.current_thread())))
    library.read_all(Task())
    here = threading.current_thread()
    assert told == [("cut.Q8_0", False, here), ("tiny.Q8_0", True, here)]
    leave()
    (folder / "new.Q8_0.gguf").write_bytes(CONTENT)
    library.scan()
    library.read_all(Task())
    assert len(told) == 2


def test_reading_all_can_be_cancelled_between_two_files_and_tells_how_far_it_is(folder):
    for number in range(3):
        (folder / f"m{number}.Q8_0.gguf").write_bytes(CONTENT)
    library = scanned(folder)
    task = Task()
    library.subscribe(lambda model: task.cancel())
    with pytest.raises(Cancelled):
        library.read_all(task)
    assert [model.info.full for model in library.models] == [True, False, False, False]
    assert (task.progress.done, task.progress.total) == (1, 4)
    again = Task()
    library.read_all(again)
    assert again.progress.done == again.progress.total == 3


def test_what_was_read_of_a_file_that_changed_meanwhile_is_not_shown(folder):
    library = scanned(folder)
    (old,) = library.models
    (folder / "tiny.Q8_0.gguf").write_bytes(CONTENT + b"more")

    class Late(Task):
        def check(self):
            library.scan()

    info = library.read_full(old, Late())
    assert info.full
    assert not library.models[0].info.full


def test_a_stamp_that_is_not_known_is_missing(tmp_path):
    assert FullHeaders(tmp_path).known("0" * 32) is None
    assert FullHeaders().known("0" * 32) is None
