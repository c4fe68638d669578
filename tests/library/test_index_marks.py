"""The library beside what is written on models, what was counted of them, and what it remembers."""

import hashlib

import pytest
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.database import Database
from weighbridge.base.errors import NotFound
from weighbridge.base.task import Task
from weighbridge.formats.variant import Role
from weighbridge.hub.promises import Promises
from weighbridge.library.hashes import Hashes
from weighbridge.library.index import Library
from weighbridge.library.marks import Marks
from weighbridge.library.remembered import Remembered
from weighbridge.server.models_route import served


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "a.sqlite3")
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "models"
    made.mkdir()
    for name in ("a", "b"):
        (made / f"{name}.gguf").write_bytes(gguf(LLAMA))
    return made


@pytest.fixture
def marks(database):
    return Marks(database)


def library_over(folder, database, marks=None, tmp_path=None):
    remembered = Remembered(tmp_path / "kept") if tmp_path else None
    return Library([folder], None, marks or Marks(database), Hashes(database), remembered)


def ids(models):
    return [model.id for model in models]


def test_off_the_list_is_off_every_list(folder, database, marks):
    library = library_over(folder, database, marks)
    a = next(model for model in library.scan() if model.id == "a")
    marks.take_off(a)
    assert ids(library.models) == ids(served(library)) == ids(library.scan()) == ["b"]
    assert ids(library.off_list) == ["a"]
    assert ids(library.all_models) == ["a", "b"]
    for name in ("a", str(a.path)):
        with pytest.raises(NotFound) as caught:
            library.resolve(name)
        assert caught.value.values["served"] == ["b"]
    assert library.resolve("a", off_list=True).path == a.path
    assert a.path.exists()
    marks.put_back(a)
    assert ids(library.models) == ["a", "b"]
    assert library.off_list == ()


def test_what_another_process_took_off_is_off_after_a_scan(folder, database):
    library = library_over(folder, database)
    other = Marks(database)
    other.take_off(library.scan()[0])
    assert ids(library.models) == ["a", "b"]
    assert ids(library.scan()) == ["b"]


def test_a_file_that_comes_back_is_still_off_the_list(folder, database, marks):
    library = library_over(folder, database, marks)
    marks.take_off(library.scan()[0])
    (folder / "a.gguf").rename(folder / "aside")
    library.scan()
    assert library.off_list == ()
    (folder / "aside").rename(folder / "a.gguf")
    library.scan()
    assert ids(library.off_list) == ["a"]


def test_what_is_verified_wrong_is_the_rows_problem_until_it_changes(folder, database):
    path = folder / "a.gguf"
    right = path.read_bytes()
    Promises(database).keep(path, hashlib.sha256(right).hexdigest())
    path.write_bytes(right[:-1] + bytes([right[-1] ^ 1]))
    library = library_over(folder, database)
    a = library.scan()[0]
    heard = []
    library.subscribe(heard.append)
    assert library.verify(a, Task()).fault.code == "model.corrupt"
    assert [(model.id, model.problem.code) for model in heard] == [("a", "model.corrupt")]
    for later in (library, library_over(folder, database)):  # also after another start
        later.scan()
        assert later.models[0].problem.code == "model.corrupt"
        assert ids(served(later)) == ["b"]
    path.write_bytes(right)
    assert library.scan()[0].problem is None
    assert library.verify(library.models[0], Task()).sound


def test_a_disk_that_reads_right_again_takes_the_problem_away(folder, database):
    """Bytes that were wrong in memory, not on the disk."""
    library = library_over(folder, database)
    a = library.scan()[0]
    hashes = Hashes(database)
    hashes.count(a.path, lambda done: None, "5" * 64)
    library.scan()
    assert library.models[0].problem.code == "model.corrupt"
    Promises(database).keep(a.path, hashlib.sha256(a.path.read_bytes()).hexdigest())
    assert library.verify(library.models[0], Task()).sound
    assert library.models[0].problem is None
    assert library.scan()[0].problem is None


def test_a_second_start_has_its_list_before_the_first_scan(folder, database, tmp_path):
    first = library_over(folder, database, tmp_path=tmp_path)
    first.scan()
    second = library_over(folder, database, tmp_path=tmp_path)
    assert second.models == ()
    assert second.recall() == second.models == first.models
    assert second.resolve("a").info.full is False


def test_what_is_off_the_list_is_not_recalled_and_what_is_gone_goes_at_the_scan(folder, database, marks, tmp_path):
    first = library_over(folder, database, marks, tmp_path)
    marks.take_off(first.scan()[0])
    (folder / "b.gguf").unlink()
    second = library_over(folder, database, tmp_path=tmp_path)
    assert ids(second.recall()) == ["b"]
    assert second.scan() == ()
    assert ids(library_over(folder, database, tmp_path=tmp_path).recall()) == []


def test_a_late_recall_does_not_take_the_place_of_a_scan(folder, database, tmp_path):
    library_over(folder, database, tmp_path=tmp_path).scan()
    (folder / "c.gguf").write_bytes(gguf(LLAMA))
    second = library_over(folder, database)
    second.scan()
    assert ids(second.recall()) == ["a", "b", "c"]


def test_without_anything_remembered_nothing_is_recalled(folder, database, tmp_path):
    assert library_over(folder, database, tmp_path=tmp_path).recall() == ()
    assert Library([folder]).recall() == ()


def test_a_remembered_row_learns_what_its_whole_header_says(folder, database, tmp_path):
    library_over(folder, database, tmp_path=tmp_path).scan()
    second = library_over(folder, database, tmp_path=tmp_path)
    (a, _) = second.recall()
    second.read_full(a)
    assert second.models[0].info.full


def test_a_database_that_fails_takes_no_model_away(folder, database, marks):
    library = library_over(folder, database, marks)
    database.close()
    assert ids(library.scan()) == ["a", "b"]


def test_what_the_user_has_chosen_is_loaded_beside_a_model(folder, database, marks):
    for name in ("mmproj-a-f16.gguf", "mmproj-a-q8_0.gguf"):
        (folder / name).write_bytes(gguf({**LLAMA, "general.architecture": "clip", "general.type": "mmproj"}))
    library = library_over(folder, database, marks)

    def beside():
        model = next(model for model in library.models if model.id == "a")
        return [(helper.role, helper.path.name) for helper in model.companions]

    library.scan()
    first, second = beside()
    a = library.resolve("a")
    marks.choose_part(a, Role.PROJECTOR, folder / second[1])
    assert beside() == [second, first]
    assert library.resolve("a").companion(Role.PROJECTOR).path.name == second[1]
    library.read_full(a)
    assert beside() == [second, first]
    marks.choose_part(a, Role.PROJECTOR, None)
    assert beside() == []
    assert library.resolve("a").companion(Role.PROJECTOR) is None
    assert len(next(model for model in library.all_models if model.id == "a").companions) == 2
    marks.choose_part(a, Role.PROJECTOR, folder / "gone.gguf")
    assert beside() == [first, second]
    marks.choose_part(a, Role.DRAFT, folder / "b.gguf")
    assert beside() == [(Role.DRAFT, "b.gguf"), first, second]
