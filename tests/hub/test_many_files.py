"""A repository of thousands of models costs as many times more as it has more of them, and not the square of that."""

import pytest
from tests.fake_hub import FakeHub
from tests.hub.looking_repos import looking, tiny

from weighbridge.base.task import Task
from weighbridge.choices.offered import offered
from weighbridge.formats.variant import File, Variant
from weighbridge.hub.layout import Layout, shelf_of
from weighbridge.hub.looking import Spot
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.wanted import files_of

A = "a" * 40


def work_for(count, monkeypatch, tmp_path):
    """How many variants are compared and how many files are made to look into so many models."""
    done = {"compared": 0, "made": 0}
    with FakeHub() as fake, looking(fake) as looker, monkeypatch.context() as patch:
        content = tiny()
        fake.add("o/many", {f"d{number}/m{number}-Q4_0.gguf": content for number in range(count)}, tags=("gguf",))
        compare, make = Variant.__eq__, File.__init__

        def compared(self, other):
            done["compared"] += 1
            return compare(self, other)

        def made(self, *args, **named):
            done["made"] += 1
            make(self, *args, **named)

        patch.setattr(Variant, "__eq__", compared)
        patch.setattr(File, "__init__", made)
        sight = looker.look(Spot("o/many"), Task())
        rows = offered(sight, shelf_of(sight.repository, Layout.FOLDER, tmp_path), ())
        assert len(rows) == count
    return done


def test_the_work_grows_with_the_number_of_models(monkeypatch, tmp_path):
    few, many = work_for(40, monkeypatch, tmp_path), work_for(160, monkeypatch, tmp_path)
    assert few["made"] >= 40
    assert many["made"] <= 5 * few["made"]
    assert many["compared"] <= 5 * max(few["compared"], 40)


def test_files_are_put_in_order_once():
    repository = Repository("o/r", "main", A, (RemoteFile("a/x", 1), RemoteFile("b", 2), RemoteFile("a/y", 3)))
    assert repository.by_path["a/y"].size_bytes == 3
    assert {folder: [file.path for file in files] for folder, files in repository.by_folder.items()} == {
        "a": ["a/x", "a/y"],
        "": ["b"],
    }
    assert repository.by_path is repository.by_path


@pytest.mark.parametrize("folder", ["", "4bit/"])
def test_beside_a_folder_comes_what_lies_in_it_and_nothing_of_another(folder):
    names = ("model.safetensors", "config.json", "tokenizer.json", "evil.py")
    files = [RemoteFile(f"{folder}{name}", 10) for name in names] + [RemoteFile("other/tokenizer.json", 1)]
    repository = Repository("o/r", "main", A, tuple(files))
    variant = Variant("mlx", folder.rstrip("/"), "4bit", (File(f"{folder}model.safetensors", 10),), folder.rstrip("/"))
    got = [file.path for file in files_of(variant, repository, {}).files]
    assert got == [f"{folder}{name}" for name in ("model.safetensors", "tokenizer.json", "config.json")]
