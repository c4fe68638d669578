import os
from dataclasses import replace

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import Cancelled, Refused
from weighbridge.base.task import Task
from weighbridge.hub.promises import Promises
from weighbridge.library.doubles import LEAST_BYTES, find_doubles, link
from weighbridge.library.hashes import Hashes
from weighbridge.library.model import OWN, Model

SIZE = LEAST_BYTES + 5


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "a.sqlite3")
    yield made
    made.close()


@pytest.fixture
def hashes(database):
    return Hashes(database)


@pytest.fixture
def own(tmp_path):
    return tmp_path / "own"


@pytest.fixture
def other(tmp_path):
    return tmp_path / "lmstudio"


def put(path, letter=b"a", size=SIZE):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(letter * size)
    return path


def model(path, source=OWN, **told):
    return Model(path.stem, path.stem, path, (path,), "gguf", None, SIZE, source=source, **told)


def found(models, own, hashes, task=None):
    return find_doubles(models, own, hashes, task or Task())


@pytest.fixture
def pair(own, other):
    return [model(put(own / "a.gguf")), model(put(other / "a.gguf"), "lmstudio")]


def test_the_same_content_twice_is_found_and_what_a_link_frees(pair, own, hashes):
    task = Task()
    (double,) = found(pair, own, hashes, task)
    assert [copy.model for copy in double.copies] == pair
    assert [copy.ours for copy in double.copies] == [True, False]
    assert double.links == ((double.copies[0], double.copies[1]),)
    assert double.freed_bytes == 512 * pair[0].path.stat().st_blocks
    assert task.progress.done == task.progress.total == 2 * SIZE


def test_what_is_known_is_not_read(pair, own, hashes, database):
    for each in pair:
        Promises(database).keep(each.path, "5" * 64)
    task = Task()
    (double,) = found(pair, own, hashes, task)
    assert double.sha256 == "5" * 64
    assert task.progress.done == 0


def test_names_that_tell_a_hash_are_believed_for_finding(pair, own, hashes):
    named = [replace(each, sha256s=(letter * 64,)) for each, letter in zip(pair, "78", strict=True)]
    assert found(named, own, hashes) == ()


def test_what_differs_is_no_double(own, other, hashes):
    models = [model(put(own / "a.gguf")), model(put(other / "a.gguf", b"b"), "x"), model(put(own / "s.gguf", size=9))]
    task = Task()
    assert found(models, own, hashes, task) == ()
    assert task.progress.done == 0  # a few places tell


def test_what_differs_where_nobody_looks_first_is_read(own, hashes):
    first, second = put(own / "a.gguf"), put(own / "b.gguf")
    content = bytearray(second.read_bytes())
    content[SIZE // 4] ^= 1
    second.write_bytes(content)
    task = Task()
    assert found([model(first), model(second)], own, hashes, task) == ()
    assert task.progress.done == 2 * SIZE


def test_one_file_under_two_names_is_no_double(own, hashes):
    first = put(own / "a.gguf")
    os.link(first, own / "b.gguf")
    (own / "c.gguf").symlink_to(first)
    assert found([model(own / f"{name}.gguf") for name in "abc"], own, hashes) == ()


def test_a_file_that_is_gone_is_passed_over(pair, own, hashes):
    pair[0].path.unlink()
    assert found(pair, own, hashes) == ()


def test_it_can_be_cancelled(pair, own, hashes):
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        found(pair, own, hashes, task)


def test_a_link_in_the_place_of_ours(pair, own, hashes):
    (double,) = found(pair, own, hashes)
    ((ours, theirs),) = double.links
    before = theirs.path.stat()
    freed = link(ours, theirs, own, hashes, Task())
    assert freed == double.freed_bytes
    after = theirs.path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)
    assert ours.path.samefile(theirs.path)
    assert [path.name for path in own.iterdir()] == ["a.gguf"]
    assert found(pair, own, hashes) == ()


def test_two_of_ours_become_one(own, hashes):
    models = [model(put(own / "a.gguf")), model(put(own / "b.gguf")), model(put(own / "c.gguf"))]
    (double,) = found(models, own, hashes)
    assert [(ours.path.name, kept.path.name) for ours, kept in double.links] == [
        ("b.gguf", "a.gguf"),
        ("c.gguf", "a.gguf"),
    ]
    for ours, kept in double.links:
        link(ours, kept, own, hashes, Task())
    assert len({path.stat().st_ino for path in own.iterdir()}) == 1


def test_a_file_with_another_name_frees_nothing(pair, own, hashes):
    os.link(pair[0].path, own / "second name")
    (double,) = found(pair, own, hashes)
    assert double.freed_bytes == 0
    assert link(*double.links[0], own, hashes, Task()) == 0


def test_another_programs_file_is_never_replaced(pair, own, hashes):
    (double,) = found(pair, own, hashes)
    ours, theirs = double.copies
    for wrong in (theirs, replace(theirs, ours=True)):  # whatever the caller believes
        with pytest.raises(Refused) as caught:
            link(wrong, ours, own, hashes, Task())
        assert caught.value.code == "double.not_ours"
    assert not ours.path.samefile(theirs.path)


def test_a_link_of_ours_is_not_ours_to_replace(own, other, hashes):
    put(other / "a.gguf")
    put(other / "b.gguf")
    own.mkdir()
    (own / "a.gguf").symlink_to(other / "a.gguf")
    (double,) = found([model(own / "a.gguf"), model(other / "b.gguf", "x")], own, hashes)
    assert double.links == ()


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("how", ["flipped", "gone", "same time"])
def test_what_has_changed_since_is_left_alone(pair, own, hashes, which, how):
    (double,) = found(pair, own, hashes)
    path = pair[which].path
    status = path.stat()
    if how == "gone":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[7] ^= 1
        path.write_bytes(content)
    if how == "same time":  # the disk lies, or a tool sets times back: only reading tells
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    contents = [each.path.read_bytes() if each.path.exists() else None for each in pair]
    with pytest.raises(Refused) as caught:
        link(*double.links[0], own, hashes, Task())
    assert caught.value.code == "double.changed"
    assert [each.path.read_bytes() if each.path.exists() else None for each in pair] == contents


def test_where_there_can_be_no_link_both_stay(pair, own, hashes, monkeypatch):
    (double,) = found(pair, own, hashes)

    def refuse(*paths, **options):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(Refused) as caught:
        link(*double.links[0], own, hashes, Task())
    assert (caught.value.code, caught.value.values["reason"]) == ("double.unlinkable", "Operation not permitted")
    assert [path.name for path in own.iterdir()] == ["a.gguf"]


def test_on_another_volume_there_is_no_link(pair, own, hashes):
    (double,) = found(pair, own, hashes)
    ours, theirs = double.copies

    class Elsewhere:
        st_dev = ours.status.st_dev + 1
        st_ino = theirs.status.st_ino

    apart = replace(double, copies=(ours, replace(theirs, status=Elsewhere())))
    assert apart.links == ()
    assert apart.freed_bytes == 0


def test_on_each_volume_ours_become_links_to_what_is_there(own, hashes):
    """A copy on another volume, of another program or of ours, keeps nothing here from being one."""
    names = ("far.gguf", "a.gguf", "b.gguf", "near.gguf")
    models = [model(put(own / name), OWN if name[0] in "ab" else "lmstudio") for name in names]
    (double,) = found(models, own, hashes)
    far, *here = double.copies

    class Elsewhere:
        st_dev, st_nlink = far.status.st_dev + 1, 1

    double = replace(double, copies=(replace(far, status=Elsewhere), *here))
    assert [(ours.path.name, kept.path.name) for ours, kept in double.links] == [
        ("a.gguf", "near.gguf"),
        ("b.gguf", "near.gguf"),
    ]
    double = replace(double, copies=double.copies[:3])
    assert [(ours.path.name, kept.path.name) for ours, kept in double.links] == [("b.gguf", "a.gguf")]


def test_a_cancelled_link_changes_nothing(pair, own, hashes):
    (double,) = found(pair, own, hashes)
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        link(*double.links[0], own, hashes, task)
    assert not pair[0].path.samefile(pair[1].path)
