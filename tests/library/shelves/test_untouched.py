"""What other programs have is found, used, and left as it is, whatever is done with models here."""

import os
from dataclasses import replace

import pytest
from tests.library.made_folders import put_exl2, put_mlx
from tests.library.shelves.made_shelves import as_it_is, model, put, put_blob, put_cached, put_manifest

from weighbridge.base.database import Database
from weighbridge.base.errors import Refused
from weighbridge.base.paths import Paths
from weighbridge.base.settings import SettingsStore
from weighbridge.base.task import Task
from weighbridge.library.adding import look_at
from weighbridge.library.doubles import find_doubles, link
from weighbridge.library.hashes import Hashes
from weighbridge.library.index import Library
from weighbridge.library.marks import Marks
from weighbridge.library.model import OWN
from weighbridge.library.places import library_roots
from weighbridge.library.removal import plan, remove
from weighbridge.library.shelves.program import Where

LARGE = model(77) + bytes(2 << 20)
"""A file that every program has."""


@pytest.fixture
def user(tmp_path):
    """A home folder with all seven programs, and KoboldCpp's file, in it."""
    made = tmp_path / "user"
    put(made / ".lmstudio/models/ann/Tiny-GGUF/tiny-Q4_K_M.gguf", LARGE)
    put_mlx(made / ".lmstudio/models/mlx-community/Qwen3-4B-4bit", shards=2)
    ollama = made / ".ollama/models"
    put_manifest(ollama, "registry.ollama.ai/library/tiny/latest", {"model": put_blob(ollama, LARGE)})
    put_cached(made / ".cache/huggingface/hub", "ann/Tiny-GGUF", "1" * 40, "tiny-Q8_0.gguf", LARGE)
    put_cached(made / ".cache/huggingface/hub", "ann/Other-GGUF", "2" * 40, "other.gguf", model(3), shared=True)
    jan = made / ".local/share/Jan/data"
    put(jan / "llamacpp/models/tiny/model.gguf", LARGE)
    put(jan / "llamacpp/models/tiny/model.yml", "model_path: llamacpp/models/tiny/model.gguf\n")
    put(made / ".local/share/nomic.ai/GPT4All/gpt4all.gguf", LARGE)
    put(made / "textgen/user_data/models/webui.gguf", LARGE)
    put_exl2(made / "textgen/user_data/models/ann_Tiny-exl2")
    put(made / "kobold/kobold.gguf", LARGE)
    put(made / "kobold/start.kcpps", {"model_param": str(made / "kobold/kobold.gguf")})
    return made


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "a.sqlite3")
    yield made
    made.close()


@pytest.fixture
def paths(tmp_path):
    made = Paths(tmp_path / "data", tmp_path / "config", tmp_path / "data" / "models")
    made.models.mkdir(parents=True)
    return made


@pytest.fixture
def library(user, database, paths):
    store, where = SettingsStore(paths.settings), Where({}, user, "linux")
    made = Library(library_roots(paths, store.value, where), paths.headers, Marks(database), Hashes(database))
    made.scan()
    look_at([user / "textgen", user / "kobold" / "start.kcpps"], made, user, Task()).apply(store)
    made.use_roots(library_roots(paths, store.value, where))
    made.scan()
    return made


def no_bin(path):
    raise AssertionError(path)


SOURCES = {"lm_studio", "ollama", "hf_cache", "jan", "gpt4all", "textgen", "koboldcpp"}


def test_all_are_found_and_none_is_changed_by_looking_verifying_or_removing(user, library, paths):
    before = as_it_is(user)
    models = library.scan()
    assert {found.source for found in models} == SOURCES
    for found in models:
        assert found.problem is None
        assert library.verify(found, Task()).sound
        for told in (found, replace(found, source=OWN)):  # even where the listing is wrong about it
            removal = plan(told, library.all_models, paths.models)
            assert removal.only_off_list
            remove(removal, no_bin)
    assert as_it_is(user) == before


def test_our_copy_becomes_a_link_and_theirs_stay(user, library, paths, database):
    ours = put(paths.models / "ann" / "tiny.gguf", LARGE)
    library.scan()
    before = as_it_is(user)
    (double,) = find_doubles(library.all_models, paths.models, Hashes(database), Task())
    assert {copy.model.source for copy in double.copies} == SOURCES | {OWN}
    assert [pair[0].path for pair in double.links] == [ours]
    for copy in double.copies:
        if not copy.ours:
            with pytest.raises(Refused):
                link(replace(copy, ours=True), double.copies[0], paths.models, Hashes(database), Task())
    link(*double.links[0], paths.models, Hashes(database), Task())
    assert as_it_is(user) == before
    assert any(os.path.samestat(ours.stat(), copy.real.stat()) for copy in double.copies if not copy.ours)


def test_a_file_of_ours_that_is_theirs_too_goes_and_theirs_stays(user, library, paths, tmp_path):
    theirs = user / ".lmstudio/models/ann/Tiny-GGUF/tiny-Q4_K_M.gguf"
    os.link(theirs, paths.models / "hard.gguf")
    library.scan()
    before = as_it_is(user)
    (hard,) = [found for found in library.models if found.source == OWN]
    removal = plan(hard, library.all_models, paths.models)
    assert removal.freed_bytes == 0
    remove(removal, lambda path: path.rename(tmp_path / "bin"))
    assert as_it_is(user) == before
    assert {found.source for found in library.scan()} == SOURCES


def test_their_folder_as_ours_is_theirs(user, database, paths, tmp_path):
    ours = replace(paths, models=user / ".lmstudio" / "models")
    library = Library(library_roots(ours, SettingsStore(paths.settings).value, Where({}, user, "linux")))
    before = as_it_is(user)
    for found in library.scan():
        removal = plan(found, library.all_models, ours.models)
        assert removal.only_off_list
        remove(removal, no_bin)
    assert as_it_is(user) == before
