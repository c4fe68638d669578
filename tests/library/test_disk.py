"""How much room models take on the disk."""

import os
from pathlib import Path

import pytest

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.library.disk import allocated_bytes, disk_use
from weighbridge.library.model import Model


def model(model_id, *parts):
    return Model(model_id, model_id, parts[0], parts, "gguf", None, sum(part.stat().st_size for part in parts))


def written(path, size_bytes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(size_bytes))
    return path


def test_what_each_model_takes_and_each_folder(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    one = model("one", written(first / "x/one.gguf", 70_000), written(first / "x/two.gguf", 10_000))
    other = model("other", written(second / "other.gguf", 5_000))
    use = disk_use([one, other], [first, second], Task())
    taken = {each.id: sum(allocated_bytes(part.stat()) for part in each.parts) for each in (one, other)}
    assert use.of_model == taken
    assert taken["one"] >= 80_000
    assert [(each.folder, each.models, each.disk_bytes) for each in use.folders] == [
        (first, 1, taken["one"]),
        (second, 1, taken["other"]),
    ]
    assert all(each.there and each.free_bytes > 0 for each in use.folders)


def test_a_sparse_file_takes_less_than_its_size(tmp_path):
    path = tmp_path / "sparse.gguf"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    use = disk_use([model("sparse", path)], [tmp_path], Task())
    assert use.of_model["sparse"] < 1 << 20


def test_two_names_of_one_file_take_its_room_once(tmp_path):
    path = written(tmp_path / "one.gguf", 50_000)
    (tmp_path / "again.gguf").hardlink_to(path)
    use = disk_use([model("one", path), model("again", tmp_path / "again.gguf")], [tmp_path], Task())
    assert use.of_model["one"] == use.of_model["again"]
    assert use.folders[0].disk_bytes == use.of_model["one"]
    assert use.folders[0].models == 2


def test_the_innermost_folder_holds_a_model(tmp_path):
    inner = tmp_path / "inner"
    use = disk_use([model("one", written(inner / "one.gguf", 10))], [tmp_path, inner], Task())
    assert [each.models for each in use.folders] == [0, 1]


def test_a_folder_that_is_away_says_so_and_a_file_that_is_gone_takes_nothing(tmp_path):
    path = written(tmp_path / "one.gguf", 10)
    gone = model("one", path)
    path.unlink()
    use = disk_use([gone], [tmp_path, Path("/no/such/drive")], Task())
    assert use.of_model == {"one": 0}
    assert not use.folders[1].there
    assert use.folders[1].free_bytes is None


def test_it_can_be_given_up(tmp_path):
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        disk_use([model("one", written(tmp_path / "one.gguf", 10))], [tmp_path], task)
