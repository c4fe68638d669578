from pathlib import Path

import pytest

from weighbridge.base.errors import BadFile
from weighbridge.hub.layout import Layout, cache_folder, shelf_in_cache, shelf_in_folder, shelf_of
from weighbridge.hub.remote import RemoteFile, Repository

COMMIT, DIGEST = "c" * 40, "d" * 64
FILE = RemoteFile("sub/m.gguf", 3, DIGEST)


def test_main_and_branches_side_by_side(tmp_path):
    def root(revision):
        return shelf_in_folder(tmp_path, "o/r", revision, COMMIT).root.relative_to(tmp_path)

    assert root("main") == Path("o/r")
    assert root("4.0bpw") == Path("o/r@4.0bpw")
    assert root("refs/pr/1") == Path("o/r@refs=pr=1")


@pytest.mark.parametrize(
    ("repo_id", "revision"), [("../x", "main"), ("o/..", "main"), ("o/r", "x."), ("con/r", "main")]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, repo_id, revision):
    with pytest.raises(BadFile) as caught:
        shelf_in_folder(tmp_path, repo_id, revision, COMMIT)
    assert caught.value.code == "file.unsafe_name"


@pytest.mark.parametrize("revision", ["../../x", "a/../../x", "x/"])
def test_a_branch_that_leads_elsewhere_is_refused_in_the_cache(tmp_path, revision):
    with pytest.raises(BadFile):
        shelf_in_cache(tmp_path, "o/r", revision, COMMIT)


def test_in_the_models_folder_a_file_is_where_it_is_in_the_repository(tmp_path):
    shelf = shelf_of(Repository("o/r", "main", COMMIT), Layout.FOLDER, tmp_path)
    assert shelf.target(FILE) == shelf.place(FILE) == tmp_path / "o/r/sub/m.gguf"
    shelf.publish(FILE)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadFile):
        shelf.place(RemoteFile("../m.gguf", 3))


def brought(tmp_path):
    shelf = shelf_of(Repository("o/r", "main", COMMIT), Layout.CACHE, tmp_path)
    shelf.target(FILE).parent.mkdir(parents=True)
    shelf.target(FILE).write_bytes(b"abc")
    shelf.publish(FILE)
    return shelf


def test_the_cache_is_as_other_programs_know_it(tmp_path):
    brought(tmp_path)
    root = tmp_path / "models--o--r"
    place = root / "snapshots" / COMMIT / "sub" / "m.gguf"
    assert place.read_bytes() == b"abc"
    assert place.readlink() == Path(f"../../../blobs/{DIGEST}")
    assert (root / "refs" / "main").read_text() == COMMIT


def test_huggingface_hub_finds_it_there(tmp_path):
    from huggingface_hub import scan_cache_dir, try_to_load_from_cache

    shelf = brought(tmp_path)
    assert try_to_load_from_cache("o/r", "sub/m.gguf", cache_dir=tmp_path) == str(shelf.place(FILE))
    (found,) = scan_cache_dir(tmp_path).repos
    assert (found.repo_id, found.size_on_disk, found.nb_files) == ("o/r", 3, 1)


def test_without_links_the_file_itself_is_there(tmp_path, monkeypatch):
    def refuse(self, target):
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    shelf = brought(tmp_path)
    assert shelf.place(FILE).read_bytes() == b"abc"
    assert not shelf.place(FILE).is_symlink()


@pytest.mark.parametrize("layout", list(Layout))
def test_what_is_withdrawn_leaves_nothing_but_others(tmp_path, layout):
    shelf = shelf_of(Repository("o/r", "main", COMMIT), layout, tmp_path)
    shelf.target(FILE).parent.mkdir(parents=True)
    shelf.target(FILE).write_bytes(b"abc")
    shelf.publish(FILE)
    other = shelf.place(RemoteFile("other.gguf", 1))
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(b"x")
    shelf.withdraw(FILE)
    left = {path for path in tmp_path.rglob("*") if path.is_file()} - {shelf.root / "refs" / "main"}
    assert left == {other}
    assert not shelf.place(FILE).parent.exists()
    other.unlink()
    shelf.tidy(FILE)
    assert tmp_path.exists()


def test_where_the_cache_is():
    home = Path("/home/x")
    assert cache_folder({}, home) == home / ".cache/huggingface/hub"
    assert cache_folder({"XDG_CACHE_HOME": "/c"}, home) == Path("/c/huggingface/hub")
    assert cache_folder({"HF_HOME": "/h", "XDG_CACHE_HOME": "/c"}, home) == Path("/h/hub")
    assert cache_folder({"HF_HUB_CACHE": "/k", "HF_HOME": "/h"}, home) == Path("/k")
