from pathlib import Path

import pytest
from tests.library.made_folders import put_mlx
from tests.library.shelves.made_shelves import CLIP, codes, link, listed, looked_at, model, put, put_cached

from weighbridge.base.errors import NotFound
from weighbridge.formats.variant import Role
from weighbridge.library.index import Library
from weighbridge.library.places import Root
from weighbridge.library.shelves.hf_cache import HF_CACHE
from weighbridge.library.shelves.program import Where

REPOSITORY = "ann/Tiny-GGUF"
AAA, BBB = "a" * 40, "b" * 40


def ids(listing):
    return [found.id for found in listing.models]


@pytest.mark.parametrize("shared", [False, True])
def test_a_file_of_a_snapshot_is_a_model_with_its_hash(tmp_path, shared):
    path = put_cached(tmp_path, REPOSITORY, AAA, "tiny-Q8_0.gguf", model(), shared)
    put_cached(tmp_path, REPOSITORY, AAA, "mmproj-F16.gguf", model(**CLIP), shared)
    listing = listed(tmp_path, "hf_cache")
    (found,) = listing.models
    assert listing.skipped == ()
    assert (found.id, found.quant, found.source, found.path) == ("tiny-Q8_0", "Q8_0", "hf_cache", path)
    blob = tmp_path / "models--ann--Tiny-GGUF" / "blobs" / found.sha256s[0]
    assert blob.is_symlink() is shared
    assert blob.read_bytes() == path.read_bytes() == model()
    assert [(helper.role, helper.path.name) for helper in found.companions] == [(Role.PROJECTOR, "mmproj-F16.gguf")]


def test_small_files_are_named_by_another_hash(tmp_path):
    folder = tmp_path / "models--ann--m"
    blob = put(folder / "blobs" / ("c" * 40), model())
    link(folder / "snapshots" / AAA / "m.gguf", blob)
    assert listed(tmp_path, "hf_cache").models[0].sha256s == ()


def test_without_links_the_file_is_in_the_snapshot(tmp_path):
    for commit in (AAA, BBB):
        put(tmp_path / "models--ann--Tiny-GGUF" / "snapshots" / commit / "tiny.gguf", model())
    put(tmp_path / "models--ann--Tiny-GGUF" / "refs" / "main", BBB)
    (found,) = listed(tmp_path, "hf_cache").models
    assert (found.id, found.sha256s, found.path.parent.name) == ("tiny", (), BBB)


def test_a_model_in_several_snapshots_is_one(tmp_path):
    for commit in (AAA, BBB):
        put_cached(tmp_path, REPOSITORY, commit, "tiny.gguf", model())
    (found,) = listed(tmp_path, "hf_cache").models
    assert found.path.parent.name == BBB


def test_two_states_of_a_file_are_two_models(tmp_path):
    put_cached(tmp_path, REPOSITORY, AAA, "tiny.gguf", model())
    put_cached(tmp_path, REPOSITORY, BBB, "tiny.gguf", model()[:-1] + b"x")
    assert len(listed(tmp_path, "hf_cache").models) == 2


def test_a_missing_part_is_named_and_half_a_later_snapshot_is_nothing_new(tmp_path):
    names = [f"m-0000{number}-of-00002.gguf" for number in (1, 2)]
    put_cached(tmp_path, REPOSITORY, BBB, names[0], model(1))
    assert listed(tmp_path, "hf_cache").models[0].problem.values["missing"] == names[1]
    for number, name in enumerate(names, 1):
        put_cached(tmp_path, REPOSITORY, AAA, name, model(number))
    put(tmp_path / "models--ann--Tiny-GGUF" / "refs" / "main", BBB)
    (found,) = listed(tmp_path, "hf_cache").models
    assert (found.problem, len(found.parts), len(found.sha256s)) == (None, 2, 2)


def test_folders_of_weights_bear_their_repositorys_name(tmp_path):
    put_mlx(tmp_path / "made")
    for file in (tmp_path / "made").iterdir():
        put_cached(tmp_path / "hub", "mlx-community/Qwen3-4B-4bit", AAA, file.name, file.read_bytes())
    (found,) = listed(tmp_path / "hub", "hf_cache").models
    assert (found.id, found.format, found.problem) == ("Qwen3-4B-4bit", "mlx", None)
    assert found.path == tmp_path / "hub" / "models--mlx-community--Qwen3-4B-4bit" / "snapshots" / AAA
    assert len(found.sha256s) == 1


def test_a_link_that_leads_out_of_the_cache_is_passed_over(tmp_path):
    outside = put(tmp_path / "outside.gguf", model())
    link(tmp_path / "hub" / "models--ann--m" / "snapshots" / AAA / "m.gguf", outside)
    listing = listed(tmp_path / "hub", "hf_cache")
    assert (listing.models, codes(listing)) == ((), ["library.outside"])


def test_a_repository_that_is_a_link_to_another_drive_is_read(tmp_path):
    put_cached(tmp_path / "drive", REPOSITORY, AAA, "tiny.gguf", model())
    link(tmp_path / "hub" / "models--ann--Tiny-GGUF", tmp_path / "drive" / "models--ann--Tiny-GGUF")
    assert ids(listed(tmp_path / "hub", "hf_cache")) == ["tiny"]


def test_a_link_to_nowhere_is_told_and_a_half_fetched_blob_is_nothing(tmp_path):
    put_cached(tmp_path, REPOSITORY, AAA, "tiny.gguf", model())
    put(tmp_path / "models--ann--Tiny-GGUF" / "blobs" / f"{'d' * 64}.incomplete", model(2))
    link(tmp_path / "models--ann--Tiny-GGUF" / "snapshots" / AAA / "gone.gguf", tmp_path / "nowhere")
    listing = listed(tmp_path, "hf_cache")
    assert (ids(listing), codes(listing)) == (["tiny"], ["library.skipped"])


def test_data_sets_and_stray_files_are_not_looked_at(tmp_path):
    put(tmp_path / "datasets--ann--d" / "snapshots" / AAA / "m.gguf", model())
    put(tmp_path / "stray.gguf", model())
    assert listed(tmp_path, "hf_cache").models == ()


def test_models_of_one_name_are_told_apart_by_their_repository(tmp_path):
    for number, owner in enumerate(("ann", "ben")):
        put_cached(tmp_path, f"{owner}/Tiny-GGUF", AAA, "tiny.Q8_0.gguf", model(number))
    library = Library([Root(tmp_path, "hf_cache")])
    assert [found.id for found in library.scan()] == ["ann/Tiny-GGUF/tiny.Q8_0", "ben/Tiny-GGUF/tiny.Q8_0"]
    assert library.resolve("ben/tiny-gguf:Q8_0").id == "ben/Tiny-GGUF/tiny.Q8_0"
    with pytest.raises(NotFound):
        library.resolve("tiny.Q8_0")


def test_a_folder_of_the_user_that_is_a_cache_is_read_as_such(tmp_path):
    put_cached(tmp_path / "hub", REPOSITORY, AAA, "tiny.gguf", model())
    (found,) = looked_at(Root(tmp_path / "hub", "added")).models
    assert (found.source, len(found.sha256s)) == ("hf_cache", 1)
    put(tmp_path / "hub" / "mine.gguf", model(1))
    found = looked_at(Root(tmp_path / "hub", "added")).models
    assert [(each.id, each.source) for each in found] == [("mine", "added"), ("tiny", "added")]


HOME = Path("/home/ann")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [HOME / ".cache/huggingface/hub"]),
        ({"HF_HOME": "/hf"}, [Path("/hf/hub")]),
        ({"HF_HUB_CACHE": "/cache", "HF_HOME": "/hf"}, [Path("/cache")]),
        ({"XDG_CACHE_HOME": "/xdg"}, [Path("/xdg/huggingface/hub")]),
        ({"LLAMA_CACHE": "/llama"}, [HOME / ".cache/huggingface/hub", Path("/llama")]),
    ],
)
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_where_it_is(platform, environment, expected):
    assert list(HF_CACHE.folders(Where(environment, HOME, platform))) == expected
