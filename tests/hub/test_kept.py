import zlib

import pytest

from weighbridge.hub import kept as module
from weighbridge.hub.kept import Kept
from weighbridge.hub.remote import RemoteFile

COMMIT, SHA256, GIT = "c" * 40, "5" * 64, "9" * 40
FILES = (
    RemoteFile("a/big.gguf", 1 << 40, sha256=SHA256, xet_hash="e" * 64),
    RemoteFile("größe.json", 0, git_sha1=GIT),
)


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def overwrite(folder, content):
    (entry,) = folder.iterdir()
    entry.write_bytes(content)


def test_a_tree_is_kept_by_repository_and_commit(tmp_path):
    Kept(tmp_path).keep_tree("o/r", COMMIT, FILES)
    again = Kept(tmp_path)
    assert again.tree("o/r", COMMIT) == FILES
    assert again.tree("o/other", COMMIT) is None
    assert again.tree("o/r", "d" * 40) is None
    again.keep_tree("o/empty", COMMIT, ())
    assert again.tree("o/empty", COMMIT) == ()


def test_the_most_of_a_head_is_kept(tmp_path):
    kept = Kept(tmp_path)
    kept.keep_head(SHA256, b"GGUF" * 100)
    kept.keep_head(SHA256, b"GGUF")
    assert kept.head(SHA256) == b"GGUF" * 100
    assert kept.head(SHA256, 400) == b"GGUF" * 100
    assert kept.head(SHA256, 401) is None
    kept.keep_head(SHA256, b"GGUF" * 200)
    assert Kept(tmp_path).head(SHA256, 401) == b"GGUF" * 200
    assert kept.head(GIT) is None


def test_what_one_endpoint_told_is_not_believed_of_another(tmp_path):
    asked = ["https://mirror.example"]
    kept = Kept(tmp_path, lambda: asked[0])
    kept.keep_tree("o/r", COMMIT, FILES)
    kept.keep_head(SHA256, b"GGUF")
    asked[0] = "https://huggingface.co"
    assert (kept.tree("o/r", COMMIT), kept.head(SHA256)) == (None, None)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zlib",
        zlib.compress(b"no JSON"),
        zlib.compress(b"[1]"),
        zlib.compress(b'[["a", -1, null, null, null]]'),
        zlib.compress(b'[["a", 1.5, null, null, null]]'),
        zlib.compress(b"[[7, 1, null, null, null]]"),
        zlib.compress(b'[["a", 1, "../../x", null, null]]'),
        zlib.compress(b'[["a", 1, null, null]]'),
        zlib.compress(b'{"a": 1}'),
        zlib.compress(b"[" * 100_000),
        zlib.compress(b"[]")[:-1],
    ],
)
def test_a_damaged_entry_is_missing_and_goes(tmp_path, content):
    kept = Kept(tmp_path)
    kept.keep_tree("o/r", COMMIT, FILES)
    overwrite(tmp_path, content)
    assert kept.tree("o/r", COMMIT) is None
    assert entries(tmp_path) == []
    kept.keep_tree("o/r", COMMIT, FILES)
    assert kept.tree("o/r", COMMIT) == FILES


def test_an_entry_that_would_unpack_without_end_is_missing(tmp_path, monkeypatch):
    kept = Kept(tmp_path)
    kept.keep_head(SHA256, bytes(1000))
    monkeypatch.setattr(module, "MOST_ENTRY_BYTES", 999)
    assert kept.head(SHA256) is None
    kept.keep_head(SHA256, bytes(1000))
    assert entries(tmp_path) == []


def test_the_number_is_bounded_without_asking(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_FILES", 3)
    monkeypatch.setattr(module, "_TIDY_AFTER", 4)
    kept = Kept(tmp_path)
    for number in range(50):
        kept.keep_head(f"{number:064}", b"GGUF")
    assert len(entries(tmp_path)) <= 3 + 4


@pytest.mark.parametrize("below", [None, "file/kept"])
def test_a_place_that_cannot_be_written_to_costs_nothing_but_time(tmp_path, below):
    (tmp_path / "file").write_text("x")
    kept = Kept(below and tmp_path / below)
    kept.keep_tree("o/r", COMMIT, FILES)
    kept.keep_head(SHA256, b"GGUF")
    assert (kept.tree("o/r", COMMIT), kept.head(SHA256)) == (None, None)
