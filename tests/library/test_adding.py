import os
from pathlib import Path

import pytest
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.made_folders import put_mlx, write_json

from weighbridge.base.database import Database
from weighbridge.base.paths import Paths
from weighbridge.base.settings import Settings, SettingsStore
from weighbridge.base.task import Task
from weighbridge.library import adding
from weighbridge.library.adding import look_at
from weighbridge.library.index import Library
from weighbridge.library.marks import Marks
from weighbridge.library.places import library_roots
from weighbridge.library.shelves.program import Where


@pytest.fixture
def user(tmp_path):
    made = tmp_path / "user"
    made.mkdir()
    return made


@pytest.fixture
def store(tmp_path):
    return SettingsStore(tmp_path / "config" / "settings.toml")


@pytest.fixture
def marks(tmp_path):
    database = Database(tmp_path / "a.sqlite3")
    yield Marks(database)
    database.close()


@pytest.fixture
def library(tmp_path, store, user, marks):
    """As the settings are now; `again` follows them."""
    paths = Paths(tmp_path / "data", tmp_path / "config", tmp_path / "data" / "models")

    class Followed(Library):
        def again(self):
            self.use_roots(library_roots(paths, store.value, Where({}, user, "linux")))
            return [model.id for model in self.scan()]

    made = Followed([], None, marks)
    paths.models.mkdir(parents=True)
    made.again()
    return made


def put(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf(LLAMA))
    return path


def snapshot(folder):
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def add(library, store, user, *paths):
    found = look_at(paths, library, user, Task())
    found.apply(store)
    return found, library.again()


def codes(found):
    return [error.code for error in found.refused]


def test_a_file_is_added_where_it_lies(library, store, user, tmp_path):
    path, beside = put(user / "Downloads" / "a.gguf"), put(user / "Downloads" / "b.gguf")
    before = snapshot(user)
    found, listed = add(library, store, user, path)
    assert (found.files, found.folders, found.refused) == ((path,), (), ())
    assert listed == ["a"]
    assert library.models[0].source == "added"
    assert store.value.model_files == (str(path),)
    assert snapshot(user) == before
    assert SettingsStore(tmp_path / "config" / "settings.toml").value == store.value
    assert beside.exists()


def test_a_part_of_a_set_adds_the_set(library, store, user):
    parts = [put(user / "x" / f"a-0000{number}-of-00003.gguf") for number in (1, 2, 3)]
    found, listed = add(library, store, user, parts[2], parts[1])
    assert found.files == (parts[0],)
    assert listed == ["a"]
    assert library.models[0].parts == tuple(parts)


def test_a_set_with_a_part_missing_is_added_and_says_so(library, store, user):
    add(library, store, user, put(user / "x" / "a-00001-of-00002.gguf"))
    assert library.models[0].problem.code == "model.part_missing"


def test_a_folder_is_added_as_a_folder(library, store, user):
    put(user / "llm" / "one" / "a.gguf")
    put(user / "llm" / "two" / "b.gguf")
    found, listed = add(library, store, user, user / "llm")
    assert found.folders == (user / "llm",)
    assert listed == ["a", "b"]
    assert store.value.model_folders == (str(user / "llm"),)


def test_a_file_of_a_folder_of_weights_adds_that_folder(library, store, user):
    put_mlx(user / "llm" / "m", shards=2)
    found, listed = add(library, store, user, user / "llm" / "m" / "model-00002-of-00002.safetensors")
    assert found.folders == (user / "llm" / "m",)
    assert listed == ["m"]


def test_a_folder_of_links_to_anothers_weights_is_that_folder_whichever_file_is_dropped(library, store, user, marks):
    for name in ("m", "n"):
        put_mlx(user / "llm" / name)
    weights = user / "llm" / "n" / "model.safetensors"
    weights.unlink()
    weights.symlink_to(user / "llm" / "m" / "model.safetensors")
    write_json(user / "llm" / "n" / "chat_template.json", {"chat_template": "other"})
    add(library, store, user, user / "llm" / "m")
    marks.take_off(library.models[0])
    found, listed = add(library, store, user, weights)
    assert (found.folders, found.back) == ((user / "llm" / "n",), ())
    assert listed == ["n"]


def test_a_launch_file_of_koboldcpp_adds_the_model_that_it_names(library, store, user):
    put(user / "elsewhere" / "a.gguf")
    launch = user / "start" / "a.kcpps"
    write_json(launch, {"model_param": str(user / "elsewhere" / "a.gguf")})
    found, listed = add(library, store, user, launch)
    assert found.files == (launch,)
    assert listed == ["a"]


def test_what_is_here_already_is_told(library, store, user, tmp_path):
    own = put(tmp_path / "data" / "models" / "a.gguf")
    path = put(user / "b.gguf")
    add(library, store, user, path)
    link = user / "link.gguf"
    link.symlink_to(own)
    found, listed = add(library, store, user, own, own.parent, path, link)
    assert codes(found) == ["adding.known"] * 4
    assert listed == ["a", "b"]
    assert store.value.model_files == (str(path),)


def test_what_was_taken_off_the_list_goes_back_on_it(library, store, user, marks):
    path = put(user / "a.gguf")
    add(library, store, user, path)
    (model,) = library.models
    marks.take_off(model)
    found, listed = add(library, store, user, path)
    assert (found.back, found.refused, found.files) == ((model,), (), ())
    assert listed == []
    marks.put_back(found.back[0])
    assert library.again() == ["a"]


def test_a_home_and_a_root_are_refused(library, store, user):
    put(user / "a.gguf")
    found, _ = add(library, store, user, user, user.parent, Path(user.anchor), Path(f"{user}/x/.."))
    assert codes(found) == ["adding.home", "adding.home", "adding.root", "adding.home"]
    link = user / "roundabout"
    link.symlink_to(user, target_is_directory=True)
    assert codes(add(library, store, user, link)[0]) == ["adding.home"]
    assert store.value == Settings()


def test_what_is_no_model_is_refused_with_its_reason(library, store, user):
    (user / "empty").mkdir()
    (user / "page.gguf").write_bytes(b"<!doctype html>")
    (user / "notes.txt").write_text("notes")
    (user / "weights.pt").write_bytes(b"PK")
    (user / "config.json").write_text("{}")
    names = ("empty", "page.gguf", "notes.txt", "weights.pt", "gone.gguf", "config.json")
    found, listed = add(library, store, user, *(user / name for name in names))
    assert codes(found) == [
        "adding.nothing",
        "file.web_page",
        "file.not_gguf",
        "model.pickle",
        "model.no_file",
        "model.nothing_here",
    ]
    assert listed == []
    assert store.value == Settings()


def test_one_bad_one_does_not_keep_the_others_out(library, store, user):
    good = put(user / "x" / "a.gguf")
    found, listed = add(library, store, user, user / "gone.gguf", good, good)
    assert codes(found) == ["model.no_file"]
    assert found.files == (good,)
    assert listed == ["a"]


def test_of_very_many_the_first_are_looked_at(library, store, user, monkeypatch):
    monkeypatch.setattr(adding, "MOST_AT_ONCE", 2)
    found, listed = add(library, store, user, *(put(user / f"{name}.gguf") for name in "abc"))
    assert (listed, codes(found)) == (["a", "b"], ["adding.many"])


def test_a_dangling_link_is_no_file(library, store, user):
    (user / "a.gguf").symlink_to(user / "gone")
    assert codes(add(library, store, user, user / "a.gguf")[0]) == ["model.no_file"]


def test_a_name_that_is_no_text_cannot_be_kept_and_is_told(library, store, user):
    strange = Path(os.fsdecode(os.fsencode(user) + b"/x/caf\xe9.gguf"))
    put(strange)
    found, _ = add(library, store, user, strange)
    assert codes(found) == ["adding.name"]
    assert store.value == Settings()
