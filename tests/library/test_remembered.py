import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.made_folders import put_mlx

from weighbridge.base.errors import BadFile, EngineFailed
from weighbridge.formats.variant import Role
from weighbridge.library.index import Library
from weighbridge.library.model import Helper, key_of
from weighbridge.library.remembered import Remembered
from weighbridge.library.scan import Listing


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "models"
    made.mkdir()
    (made / "a.gguf").write_bytes(gguf(LLAMA | {"llama.attention.head_count_kv": [1, 2]}))
    (made / "bad.gguf").write_bytes(b"<!doctype html>")
    for number in (1, 2):
        (made / f"s-0000{number}-of-00002.gguf").write_bytes(gguf(LLAMA))
    put_mlx(made / "m", shards=2)
    return made


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "library.kept"


def listing_of(folder):
    library = Library([folder])
    models = library.scan()
    return Listing(models, (), {key_of(model): "5" * 32 for model in models})


def alike(one, other):
    """Errors are equal by what they say."""
    assert [(type(m.problem), m.problem and (m.problem.code, m.problem.values)) for m in one.models] == [
        (type(m.problem), m.problem and (m.problem.code, m.problem.values)) for m in other.models
    ]
    assert [replace(model, problem=None) for model in one.models] == [
        replace(model, problem=None) for model in other.models
    ]
    assert one.stamps == other.stamps


def test_what_was_listed_is_read_again(folder, path):
    listing = listing_of(folder)
    helper = Helper(Role.PROJECTOR, folder / "mmproj.gguf", 7)
    first = replace(listing.models[0], companions=(helper,), sha256s=("5" * 64,), guessed=True, source="lmstudio")
    listing = replace(listing, models=(first, *listing.models[1:]))
    assert {model.format for model in listing.models} == {"gguf", "mlx"}
    assert any(isinstance(model.problem, BadFile) for model in listing.models)
    Remembered(path).keep(listing)
    alike(Remembered(path).read(), listing)


def test_the_table_of_tensors_and_long_values_are_left_out(folder, path):
    (folder / "a.gguf").write_bytes(gguf(LLAMA | {"general.description": "x" * 10_000, "long.list": [1] * 1_000}))
    library = Library([folder])
    library.scan()
    full = library.read_full(library.resolve("a"))
    assert full.full
    Remembered(path).keep(Listing(library.models))
    info = next(model.info for model in Remembered(path).read().models if model.id == "a")
    assert info.tensors is None
    assert set(info.metadata) == set(LLAMA)


def test_a_config_of_any_length_is_left_out(folder, path):
    listing = listing_of(folder)
    (mlx,) = [model for model in listing.models if model.format == "mlx"]
    Remembered(path).keep(Listing((replace(mlx, info=replace(mlx.info, config={"note": "x" * 100_000})),)))
    assert Remembered(path).read().models[0].info is None


def test_nothing_is_there_at_first_and_nothing_else_is_waited_for(path):
    assert Remembered(path).read() is None
    path.parent.mkdir()
    os.mkfifo(path)
    assert Remembered(path).read() is None


def test_names_and_values_that_are_no_text(tmp_path, path):
    strange = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.gguf"))
    strange.write_bytes(gguf(LLAMA))
    listing = listing_of(tmp_path)
    odd = EngineFailed("engine.stopped", model=strange)
    Remembered(path).keep(replace(listing, models=(replace(listing.models[0], problem=odd),)))
    (model,) = Remembered(path).read().models
    assert model.path == strange
    assert model.problem.code == "engine.stopped"


@pytest.mark.parametrize("at", [0, 5, 20, 300, -1])
def test_a_flipped_byte_anywhere_is_as_if_nothing_were_there(folder, path, at):
    Remembered(path).keep(listing_of(folder))
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.write_bytes(content)
    assert Remembered(path).read() is None


@pytest.mark.parametrize("length", [0, 3, 16, 100])
def test_a_cut_file_is_as_if_nothing_were_there(folder, path, length):
    Remembered(path).keep(listing_of(folder))
    path.write_bytes(path.read_bytes()[:length])
    assert Remembered(path).read() is None


@pytest.mark.parametrize(
    "told",
    [
        b"{",
        b"[]",
        b"7",
        b'["older"]\n[]',
        b"null",
        b"",
        b"[" * 100_000,
    ],
)
def test_another_version_and_what_is_no_listing_are_ignored(path, told, monkeypatch):
    monkeypatch.setattr("weighbridge.library.remembered._packed", lambda listing: [told])
    Remembered(path).keep(Listing())
    assert path.exists()
    assert Remembered(path).read() is None


def test_rows_of_another_shape_are_ignored(folder, path, monkeypatch):
    from weighbridge.library import remembered

    real = b"".join(remembered._packed(listing_of(folder)))
    for wrong in (real.replace(b'"chat"', b'"no kind"', 1), real.replace(b"\n[[", b"\n[[0,", 1), real + b"\n{"):
        assert wrong != real
        monkeypatch.setattr("weighbridge.library.remembered._packed", lambda listing, wrong=wrong: [wrong])
        Remembered(path).keep(Listing())
        assert Remembered(path).read() is None


def test_any_number_of_models_is_kept(folder, path):
    (model,) = [model for model in listing_of(folder).models if model.id == "a"]
    for count in (0, 1, 63, 64, 65, 200):
        names = [folder / f"{number}.gguf" for number in range(count)]
        models = tuple(replace(model, id=name.stem, path=name, parts=(name,)) for name in names)
        listing = Listing(models, (), {key_of(each): each.id for each in models})
        Remembered(path).keep(listing)
        assert Remembered(path).read() == listing


def test_the_same_listing_is_written_once(folder, path):
    kept, listing = Remembered(path), listing_of(folder)
    kept.keep(listing)
    before = path.stat()
    kept.keep(listing)
    again = Remembered(path)
    again.read()
    again.keep(listing)
    assert path.stat().st_ino == before.st_ino
    kept.keep(Listing())
    assert Remembered(path).read() == Listing()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_place_that_cannot_be_written_to_stops_nothing(tmp_path, folder):
    (tmp_path / "file").write_text("no folder")
    kept = Remembered(tmp_path / "file" / "library.kept")
    kept.keep(listing_of(folder))
    assert kept.read() is None
