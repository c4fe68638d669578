"""What removing a model does, over layouts with links of every kind: nothing outside our own folder is touched."""

import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.made_folders import put_mlx

from weighbridge.base.errors import Refused
from weighbridge.formats.variant import Role
from weighbridge.hub.jobs import Job, JobFile, State
from weighbridge.hub.layout import shelf_in_folder
from weighbridge.hub.remote import RemoteFile
from weighbridge.library.index import Library
from weighbridge.library.model import ADDED, OWN, Helper
from weighbridge.library.removal import Removal, Why, plan, refusal, remove


@pytest.fixture
def own(tmp_path):
    made = tmp_path / "own"
    made.mkdir()
    return made


@pytest.fixture
def outside(tmp_path):
    made = tmp_path / "outside"
    made.mkdir()
    return made


class Bin:
    """A folder that stands for the system's bin; `room` files go in."""

    def __init__(self, folder, room=1_000):
        self.folder = folder
        self.room = room
        self.names = []
        folder.mkdir()

    def __call__(self, path):
        assert not path.is_symlink()
        if len(self.names) == self.room:
            raise PermissionError(13, "Permission denied")
        path.rename(self.folder / f"{len(self.names)}-{path.name}")
        self.names.append(path.name)


@pytest.fixture
def bin_(tmp_path):
    return Bin(tmp_path / "bin")


def put(path, extra=b""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf(LLAMA) + extra)
    return path


def models_in(own, *others):
    return Library([own, *others]).scan()


def only(own, *others):
    (model,) = models_in(own, *others)
    return model


def snapshot(folder):
    """Every name below `folder`, with what it is and holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = path.readlink()
        elif path.is_file():
            status = path.stat()
            found[str(path)] = (path.read_bytes(), status.st_ino, status.st_mtime_ns)
    return found


def going(removal):
    return [(each.path.name, each.is_link) for each in removal.going]


def test_a_file_of_ours_goes_to_the_bin_and_its_empty_folders_too(own, bin_):
    put(own / "ann" / "Tiny-GGUF" / "tiny.gguf")
    removal = plan(only(own), models_in(own), own)
    assert going(removal) == [("tiny.gguf", False)]
    assert removal.freed_bytes == 512 * (own / "ann/Tiny-GGUF/tiny.gguf").stat().st_blocks > 0
    remove(removal, bin_)
    assert bin_.names == ["tiny.gguf"]
    assert list(own.iterdir()) == []
    assert own.is_dir()


def test_a_folder_with_something_else_in_it_stays(own, bin_):
    put(own / "ann" / "a" / "tiny.gguf")
    (own / "ann" / "a" / "README.md").write_text("notes")
    remove(plan(only(own), models_in(own), own), bin_)
    assert [path.name for path in (own / "ann" / "a").iterdir()] == ["README.md"]


def test_all_parts_of_a_set_and_what_is_left_of_its_download(own, bin_):
    for number in (1, 2):
        put(own / f"a-0000{number}-of-00002.gguf")
    (own / "a-00002-of-00002.gguf.part").write_bytes(b"x")
    (own / "a-00002-of-00002.gguf.part.json").write_text("{}")
    remove(plan(only(own), models_in(own), own), bin_)
    assert sorted(bin_.names) == [
        "a-00001-of-00002.gguf",
        "a-00002-of-00002.gguf",
        "a-00002-of-00002.gguf.part",
        "a-00002-of-00002.gguf.part.json",
    ]
    assert list(own.iterdir()) == []


def test_imported_by_a_link_only_the_link_goes(own, outside, bin_):
    original = put(outside / "tiny.gguf")
    (own / "tiny.gguf").symlink_to(original)
    before = snapshot(outside)
    removal = plan(only(own), models_in(own), own)
    assert going(removal) == [("tiny.gguf", True)]
    assert removal.freed_bytes == 0
    remove(removal, bin_)
    assert bin_.names == []
    assert not os.path.lexists(own / "tiny.gguf")
    assert snapshot(outside) == before


def test_imported_by_a_hard_link_the_other_name_stays_and_nothing_is_freed(own, outside, bin_):
    original = put(outside / "tiny.gguf")
    os.link(original, own / "tiny.gguf")
    before = snapshot(outside)
    removal = plan(only(own), models_in(own), own)
    assert (going(removal), removal.freed_bytes) == ([("tiny.gguf", False)], 0)
    remove(removal, bin_)
    assert snapshot(outside) == before
    assert not (own / "tiny.gguf").exists()


def test_a_file_with_two_names_of_which_both_go_is_freed_once(own):
    put_mlx(own / "m", shards=1)
    os.link(own / "m" / "config.json", own / "m" / "copy.json")
    removal = plan(only(own), models_in(own), own)
    assert removal.freed_bytes == sum(
        512 * (own / "m" / name).stat().st_blocks
        for name in ("config.json", "model.safetensors", "tokenizer_config.json")
    )


def test_a_folder_registered_by_the_user_is_only_taken_off_the_list(own, outside, bin_):
    put(outside / "tiny.gguf")
    before = snapshot(outside)
    (model,) = models_in(own, outside)
    for source in (OWN, ADDED, "lmstudio"):  # where it lies decides, whatever the listing believes
        removal = plan(replace(model, source=source), [model], own)
        assert removal.only_off_list
        assert [(each.path, each.why) for each in removal.staying] == [(outside / "tiny.gguf", Why.ELSEWHERE)]
        remove(removal, bin_)
    assert snapshot(outside) == before


def test_a_folder_of_another_program_within_ours_is_not_ours(own, bin_):
    put(own / "lmstudio" / "tiny.gguf")
    removal = plan(replace(only(own), source="lmstudio"), [], own)
    remove(removal, bin_)
    assert removal.only_off_list
    assert (own / "lmstudio" / "tiny.gguf").exists()


def test_of_a_link_to_a_folder_outside_only_the_link_goes(own, outside, bin_):
    put(outside / "deep" / "tiny.gguf")
    (own / "linked").symlink_to(outside, target_is_directory=True)
    before = snapshot(outside)
    removal = plan(only(own), models_in(own), own)
    assert going(removal) == [("linked", True)]
    assert removal.freed_bytes == 0
    remove(removal, bin_)
    assert snapshot(outside) == before
    assert list(own.iterdir()) == []


def test_a_link_through_which_others_are_found_stays(own, outside, bin_):
    put(outside / "a.gguf")
    put(outside / "b.gguf", b"more")
    (own / "linked").symlink_to(outside, target_is_directory=True)
    models = models_in(own)
    removal = plan(models[0], models, own)
    assert removal.only_off_list
    remove(removal, bin_)
    assert (own / "linked" / "a.gguf").exists()


def test_our_folder_may_itself_be_a_link(own, tmp_path, bin_):
    put(own / "tiny.gguf")
    link = tmp_path / "models"
    link.symlink_to(own, target_is_directory=True)
    remove(plan(only(link), models_in(link), link), bin_)
    assert bin_.names == ["tiny.gguf"]


def test_a_projector_that_another_model_uses_stays_and_one_that_none_uses_goes(own, bin_):
    for name in ("a.gguf", "b.gguf"):
        put(own / name)
    projector = put(own / "mmproj.gguf")
    helper = Helper(Role.PROJECTOR, projector, 1)
    a, b = (replace(model, companions=(helper,)) for model in models_in(own) if model.title in "ab")
    shared = plan(a, [a, b], own)
    assert [(each.path, each.why, each.models) for each in shared.staying] == [(projector, Why.SHARED, ("b",))]
    assert going(shared) == [("a.gguf", False)]
    alone = plan(a, [a, replace(b, companions=())], own)
    assert going(alone) == [("a.gguf", False), ("mmproj.gguf", False)]


def test_a_draft_is_a_model_of_its_own_and_stays(own):
    put(own / "a.gguf")
    draft = put(own / "draft.gguf")
    model = replace(models_in(own)[0], companions=(Helper(Role.DRAFT, draft, 1),))
    assert going(plan(model, [], own)) == [("a.gguf", False)]


def test_a_folder_that_is_a_model_goes_without_what_is_no_part_of_it(own, bin_):
    put_mlx(own / "ann" / "m", shards=2)
    (own / "ann" / "m" / "thesis.pdf").write_bytes(b"%PDF")
    put(own / "ann" / "m" / "other.gguf")
    models = models_in(own)
    (folder,) = [model for model in models if model.format == "mlx"]
    remove(plan(folder, models, own), bin_)
    assert sorted(path.name for path in (own / "ann" / "m").iterdir()) == ["other.gguf", "thesis.pdf"]


def test_a_folder_within_a_folder_is_a_model_of_its_own(own, bin_):
    put_mlx(own / "m")
    outer = only(own)
    put_mlx(own / "m" / "8bit")
    inner = replace(outer, path=own / "m" / "8bit", parts=(own / "m" / "8bit" / "model.safetensors",))
    remove(plan(outer, [outer, inner], own), bin_)
    assert sorted(path.name for path in (own / "m").iterdir()) == ["8bit"]
    assert len(list((own / "m" / "8bit").iterdir())) == 3


def test_a_model_in_our_folder_itself_takes_nothing_of_the_folders_below(own, bin_):
    put_mlx(own)
    put(own / "ann" / "Other" / "other.gguf")
    put(own / "mmproj-stray.gguf")
    (own / "ann" / "Other" / "README.md").write_text("read me")
    (own / "pictures.txt").mkdir()
    models = models_in(own)
    (top,) = [model for model in models if model.format == "mlx"]
    remove(plan(top, models, own), bin_)
    assert sorted(bin_.names) == ["config.json", "model.safetensors", "tokenizer_config.json"]
    assert sorted(path.name for path in own.iterdir()) == ["ann", "mmproj-stray.gguf", "pictures.txt"]
    assert len(list((own / "ann" / "Other").iterdir())) == 2


def test_what_is_gone_by_itself_leaves_nothing_to_remove(own):
    put_mlx(own / "m")
    model = only(own)
    shutil.rmtree(own / "m")
    assert plan(model, [model], own).only_off_list


def test_two_formats_in_one_folder_share_what_is_around_them(own, bin_):
    put_mlx(own / "m")
    first = only(own)
    second = replace(first, format="other", parts=(own / "m" / "other.xml",))
    removal = plan(first, [first, second], own)
    assert going(removal) == [("model.safetensors", False)]


def test_without_a_bin_nothing_is_removed_and_that_is_said(own, tmp_path):
    for number in (1, 2):
        put(own / f"a-0000{number}-of-00002.gguf")
    before = snapshot(own)
    with pytest.raises(Refused) as caught:
        remove(plan(only(own), models_in(own), own), Bin(tmp_path / "full", room=0))
    assert (caught.value.code, caught.value.values["reason"]) == ("bin.none", "Permission denied")
    assert snapshot(own) == before


def test_a_bin_that_fails_half_way_says_how_far_it_came(own, tmp_path):
    for number in (1, 2):
        put(own / f"a-0000{number}-of-00002.gguf")
    with pytest.raises(Refused) as caught:
        remove(plan(only(own), models_in(own), own), Bin(tmp_path / "small", room=1))
    assert caught.value.code == "bin.partly"
    assert (caught.value.values["gone"], caught.value.values["count"]) == (1, 2)


@pytest.mark.parametrize("swap", ["other file", "link", "gone", "parent"])
def test_what_changed_after_it_was_shown_is_not_removed(own, outside, bin_, swap):
    target = put(own / "sub" / "tiny.gguf")
    original = put(outside / "tiny.gguf")
    removal = plan(only(own), models_in(own), own)
    if swap == "parent":
        target.parent.rename(own / "moved")
        (own / "sub").symlink_to(outside, target_is_directory=True)
    else:
        target.rename(own / "aside")
        if swap == "other file":
            put(target)
        elif swap == "link":
            target.symlink_to(original)
    before = snapshot(outside), snapshot(own)
    with pytest.raises(Refused) as caught:
        remove(removal, bin_)
    assert caught.value.code == "removal.changed"
    assert (snapshot(outside), snapshot(own)) == before


def test_not_while_it_is_loaded_or_fetched(own):
    put(own / "ann" / "Tiny" / "tiny.gguf")
    removal = plan(only(own), models_in(own), own)
    assert refusal(removal, (), ()) is None
    assert refusal(removal, ("tiny",), ()).code == "model.in_use"
    assert refusal(removal, (str(removal.model.path),), ()).code == "model.in_use"
    shelf = shelf_in_folder(own, "ann/Tiny", "main", "0" * 40)
    file = JobFile(RemoteFile("tiny.gguf", 1))
    job = Job("ann/Tiny", "main", "0" * 40, "tiny", shelf.root, shelf.layout, (file,))
    for state in State:
        ended = state in (State.DONE, State.FAILED, State.CANCELLED)
        assert (refusal(removal, (), [replace(job, state=state)]) is None) is ended
    other = replace(job, files=(JobFile(RemoteFile("other.gguf", 1)),))
    assert refusal(removal, (), [other]) is None


def _scatter(chance, own, outside):
    """Files, links and folders at random, inside and outside, leading to each other."""
    places = [own, own / "a", own / "a" / "b", outside, outside / "x"]
    for place in places:
        place.mkdir(exist_ok=True)
    files = [put(chance.choice(places) / f"f{number}.gguf", bytes([number])) for number in range(6)]
    put_mlx(chance.choice(places) / "mlx")
    for number in range(6):
        name = chance.choice(places) / f"l{number}.gguf"
        target = chance.choice(files)
        kind = chance.randrange(3)
        if kind == 0:
            name.symlink_to(target)
        elif kind == 1:
            os.link(target, name)
        else:
            (name.parent / f"d{number}").symlink_to(chance.choice(places), target_is_directory=True)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_outside_is_ever_touched(own, outside, bin_, seed):
    chance = random.Random(seed)
    _scatter(chance, own, outside)
    before = snapshot(outside)
    models = models_in(own, outside)
    assert models
    for model in models:
        told = replace(model, source=OWN)  # as if the listing believed it
        removal: Removal = plan(told, models, own)
        for each in removal.going:
            assert Path(os.path.realpath(each.path.parent)).is_relative_to(own.resolve())
        try:
            remove(removal, bin_)
        except Refused as error:  # an earlier removal took a folder link away
            assert error.code == "removal.changed"
        assert snapshot(outside) == before
    assert own.is_dir()
