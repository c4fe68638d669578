"""A scan that finds what was known before keeps it, so that nobody weighs or draws it again."""

from pathlib import Path

import pytest
from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.library.index import Library
from weighbridge.library.remembered import Remembered


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "models"
    made.mkdir()
    for name in ("a", "b", "c"):
        (made / f"{name}.gguf").write_bytes(gguf(LLAMA))
    return made


def test_what_a_second_scan_finds_unchanged_is_the_same(folder):
    library = Library([folder])
    before = library.scan()
    assert library.scan() is before


def test_a_damaged_file_that_is_still_damaged_is_the_same(folder):
    (folder / "broken.gguf").write_bytes(b"<html>")
    library = Library([folder])
    before = library.scan()
    assert any(model.problem is not None for model in before)
    assert library.scan() is before


def test_only_what_has_changed_is_another(folder):
    library = Library([folder])
    before = library.scan()
    (folder / "b.gguf").write_bytes(gguf(LLAMA) + bytes(4096))
    (folder / "d.gguf").write_bytes(gguf(LLAMA))
    after = library.scan()
    assert [model.id for model in after] == ["a", "b", "c", "d"]
    assert (after[0] is before[0], after[1] is before[1], after[2] is before[2]) == (True, False, True)
    assert after[1].size_bytes == before[1].size_bytes + 4096


def test_what_was_recalled_gives_way_to_what_is_known_better(folder, tmp_path):
    kept = Path(tmp_path / "listing.kept")
    Library([folder], remembered=Remembered(kept)).scan()
    library = Library([folder], remembered=Remembered(kept))
    recalled = library.recall()
    found = library.scan()
    assert found == Library([folder]).scan()
    assert [model.path for model in recalled] == [model.path for model in found]
