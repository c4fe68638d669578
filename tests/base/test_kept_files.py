import os

import pytest

from weighbridge.base.kept_files import KeptFiles

ONE, TWO, THREE = ("1" * 32, "2" * 32, "3" * 32)


def kept_in(folder, most_files=10, most_bytes=1000):
    return KeptFiles(folder, ".small", most_files, most_bytes)


def use(folder, key, at_s):
    os.utime(folder / f"{key}.small", (at_s, at_s))


def test_what_was_stored_is_loaded_also_by_the_next_start(tmp_path):
    kept_in(tmp_path / "new" / "kept").store(ONE, b"abc")
    again = kept_in(tmp_path / "new" / "kept")
    assert (again.load(ONE, 3), again.load(TWO, 3)) == (b"abc", None)
    again.store(ONE, b"de")
    assert again.load(ONE, 3) == b"de"
    assert [path.name for path in (tmp_path / "new" / "kept").iterdir()] == [f"{ONE}.small"]


def test_what_is_longer_than_expected_is_not_read(tmp_path):
    kept = kept_in(tmp_path)
    kept.store(ONE, b"abc")
    assert kept.load(ONE, 2) is None


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are of POSIX")
def test_what_is_no_file_is_missing(tmp_path):
    kept = kept_in(tmp_path)
    os.mkfifo(tmp_path / f"{ONE}.small")
    (tmp_path / f"{TWO}.small").mkdir()
    assert (kept.load(ONE, 9), kept.load(TWO, 9)) == (None, None)
    kept.store(TWO, b"abc")
    assert kept.load(TWO, 9) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{ONE}.small", f"{TWO}.small"]


def test_what_is_dropped_is_gone(tmp_path):
    kept = kept_in(tmp_path)
    kept.store(ONE, b"abc")
    kept.drop(ONE)
    kept.drop(ONE)
    assert kept.load(ONE, 3) is None


def test_too_many_are_deleted_the_ones_used_longest_ago_first(tmp_path):
    kept = kept_in(tmp_path, most_files=2)
    for at_s, key in enumerate((ONE, TWO, THREE)):
        kept.store(key, b"abc")
        use(tmp_path, key, at_s)
    kept.load(ONE, 3)
    kept.tidy()
    assert [kept.load(key, 3) for key in (ONE, TWO, THREE)] == [b"abc", None, b"abc"]


def test_too_many_bytes_are_deleted(tmp_path):
    kept = kept_in(tmp_path, most_bytes=5)
    for at_s, key in enumerate((ONE, TWO)):
        kept.store(key, b"abc")
        use(tmp_path, key, at_s)
    kept.tidy()
    assert [kept.load(key, 3) for key in (ONE, TWO)] == [None, b"abc"]


@pytest.mark.parametrize("below", [None, "file/kept"])
def test_without_a_folder_to_write_to_nothing_is_kept(tmp_path, below):
    (tmp_path / "file").write_text("x")
    kept = kept_in(below and tmp_path / below)
    kept.store(ONE, b"abc")
    kept.tidy()
    kept.drop(ONE)
    assert kept.load(ONE, 3) is None


@pytest.mark.parametrize("key", ["../../etc/passwd0000", "short", "A" * 32, "", "1" * 65])
def test_a_key_is_a_hash(tmp_path, key):
    kept = kept_in(tmp_path)
    for call in (lambda: kept.load(key, 1), lambda: kept.store(key, b""), lambda: kept.drop(key)):
        with pytest.raises(ValueError) as caught:
            call()
        assert caught.value.args == (key,)
