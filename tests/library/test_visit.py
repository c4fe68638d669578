"""Places where models are looked for, as they turn out to be, and models that several of them lead to."""

import os

import pytest
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.made_folders import put_mlx
from tests.library.shelves.made_shelves import codes, looked_at, model, put, put_blob, put_cached, put_manifest

from weighbridge.base.errors import NotFound
from weighbridge.library.index import Library
from weighbridge.library.places import Root


@pytest.mark.parametrize("ways", [("own", "added", "lm_studio"), ("added", "lm_studio"), ("lm_studio",)])
def test_a_model_that_lies_in_several_places_is_that_of_the_first(tmp_path, ways):
    first = put(tmp_path / ways[0] / "m.gguf", model())
    for way in ways[1:]:
        (tmp_path / way).mkdir()
        (tmp_path / way / "m.gguf").hardlink_to(first)
    (found,) = looked_at(*(Root(tmp_path / way, way) for way in ways)).models
    assert (found.source, found.path) == (ways[0], first)


def test_what_a_later_way_tells_is_kept(tmp_path):
    digest = put_blob(tmp_path / "ollama", model())
    put_manifest(tmp_path / "ollama", "hf.co/ann/Tiny-GGUF/Q8_0", {"model": digest, "system": digest})
    blob = tmp_path / "ollama" / "blobs" / digest.replace(":", "-")
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "tiny-Q8_0.gguf").hardlink_to(blob)
    library = Library([Root(tmp_path / "ours"), Root(tmp_path / "ollama", "ollama")])
    (found,) = library.scan()
    assert (found.id, found.source, found.path.name) == ("tiny-Q8_0", "own", "tiny-Q8_0.gguf")
    assert (found.sha256s, found.unused) == ((digest.removeprefix("sha256:"),), ("system",))
    for name in ("hf.co/ann/tiny-gguf:Q8_0", str(blob), str(tmp_path / "ours" / "tiny-Q8_0.gguf")):
        assert library.resolve(name) == found


def test_one_folder_below_another_is_searched_by_both_and_lists_once(tmp_path):
    put_cached(tmp_path / "all" / "hub", "ann/Tiny-GGUF", "a" * 40, "below/tiny.gguf", model())
    listing = looked_at(Root(tmp_path / "all", "added"), Root(tmp_path / "all" / "hub", "hf_cache"))
    (found,) = listing.models
    assert (found.source, len(found.sha256s), found.aliases) == ("added", 1, ())


def test_that_a_folder_of_the_user_is_gone_is_told_and_that_a_program_is_not_here_is_not(tmp_path):
    gone = tmp_path / "usb"
    listing = looked_at(Root(tmp_path / "ours"), Root(gone, "added"), Root(tmp_path / "jan", "jan"))
    assert [(error.code, error.values) for error in listing.skipped] == [("library.gone", {"path": str(gone)})]
    assert listing.searched == (tmp_path / "ours",)


def test_where_was_looked_is_told(tmp_path):
    put(tmp_path / "gpt4all" / "m.gguf", model())
    roots = [Root(tmp_path / "ours"), Root(tmp_path / "gpt4all", "gpt4all"), Root(tmp_path / "jan", "jan")]
    library = Library(roots)
    assert library.folders == (tmp_path / "ours",)
    library.scan()
    assert library.folders == (tmp_path / "ours", tmp_path / "gpt4all")


def test_a_single_file_is_a_place(tmp_path):
    for number in (1, 2):
        put(tmp_path / f"m-0000{number}-of-00002.gguf", model(number))
    put(tmp_path / "other.gguf", model(3))
    (found,) = looked_at(Root(tmp_path / "m-00002-of-00002.gguf", "added")).models
    assert (found.id, found.source, found.path.name) == ("m", "added", "m-00001-of-00002.gguf")


@pytest.mark.parametrize(
    ("name", "content", "ids"),
    [
        ("sha256-abc", gguf(LLAMA), ["sha256-abc"]),
        ("notes.txt", b"hello", []),
        ("damaged.gguf", b"", ["damaged"]),
        ("x.echo", b"{}", ["x"]),
    ],
)
def test_what_a_single_file_is_depends_on_its_name_and_its_first_bytes(tmp_path, name, content, ids):
    listing = looked_at(Root(put(tmp_path / name, content), "added"))
    assert [found.id for found in listing.models] == ids


def test_models_at_the_top_five_folders_deep_and_behind_a_loop_are_found_once(tmp_path):
    put(tmp_path / "a.gguf", model(1))
    put(tmp_path / "x" / "b.gguf", model(2))
    put(tmp_path / "1/2/3/4/5" / "c.gguf", model(3))
    put_mlx(tmp_path / "1/2/3/mlx")
    (tmp_path / "1/2/loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    for source in ("own", "added", "lm_studio", "gpt4all"):
        listing = looked_at(Root(tmp_path, source))
        assert [found.id for found in listing.models] == ["a", "b", "c", "mlx"]
        assert {found.source for found in listing.models} == {source}
        assert codes(listing) == []


def test_a_pipe_is_no_place(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    assert looked_at(Root(tmp_path / "pipe.gguf", "added")).models == ()


def test_an_alias_of_two_models_is_ambiguous(tmp_path):
    for number, place in enumerate(("one", "two")):
        digest = put_blob(tmp_path / place, model(number))
        put_manifest(tmp_path / place, "registry.ollama.ai/library/m/latest", {"model": digest})
    library = Library([Root(tmp_path / place, "ollama") for place in ("one", "two")])
    assert len({found.id for found in library.scan()}) == 2
    with pytest.raises(NotFound) as caught:
        library.resolve("m")
    assert caught.value.code == "model.ambiguous"


def test_a_second_scan_reads_no_header_again(tmp_path, monkeypatch):
    put(tmp_path / "lms/ann/m.gguf", model())
    put_manifest(tmp_path / "ollama", "hf.co/a/b/c", {"model": put_blob(tmp_path / "ollama", model(2))})
    put_cached(tmp_path / "hub", "ann/Tiny-GGUF", "a" * 40, "tiny.gguf", model(3))
    roots = [
        Root(tmp_path / "lms", "lm_studio"),
        Root(tmp_path / "ollama", "ollama"),
        Root(tmp_path / "hub", "hf_cache"),
    ]
    library = Library(roots)
    before = library.scan()
    assert len(before) == 3
    monkeypatch.setattr("weighbridge.library.headers._read", None)
    assert library.scan() == before
