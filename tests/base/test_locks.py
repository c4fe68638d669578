import json
import os
import signal
import sys
import threading

import pytest
from tests.processes import running

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.locks import FileLock, Owner, OwnerLock

HOLD = """
import sys, time
from pathlib import Path
from weighbridge.base.locks import OwnerLock
lock = OwnerLock(Path(sys.argv[1]))
lock.take("serve")
lock.tell("serve", "http://127.0.0.1:2412")
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def other(tmp_path):
    """Another process that owns the folder."""
    with running([sys.executable, "-c", HOLD, str(tmp_path)]) as process:
        assert process.stdout.readline() == "held\n"
        yield process


def test_a_folder_s_lock_has_a_mark_of_its_own_while_it_is_held(tmp_path):
    one, other = OwnerLock(tmp_path / "one"), OwnerLock(tmp_path / "other")
    assert one.mark is None
    one.take("window")
    other.take("window")
    mark = one.mark
    assert mark not in (None, other.mark)
    one.release()
    other.release()
    assert one.mark is None
    one.take("serve")
    assert one.mark == mark
    one.release()


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are of POSIX")
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_in_the_place_of_its_files_anything_may_lie(tmp_path, put):
    put(tmp_path / "in-use.json")
    lock = OwnerLock(tmp_path)
    assert lock.owner() is None
    lock.take("window")
    lock.release()
    assert not lock.held
    (tmp_path / "in-use.lock").unlink()
    put(tmp_path / "in-use.lock")
    with pytest.raises(BadFile) as refused:
        lock.take("window")
    assert refused.value.code == "owner.unwritable"


def test_the_owner_says_what_it_is(tmp_path):
    lock = OwnerLock(tmp_path / "new" / "folder")
    lock.take("window")
    assert lock.owner() == Owner(os.getpid(), "window")
    lock.tell("window", "http://127.0.0.1:2413")
    assert lock.owner() == Owner(os.getpid(), "window", "http://127.0.0.1:2413")
    lock.release()
    lock.release()
    assert lock.owner() is None


def test_a_second_owner_hears_of_the_first(tmp_path, other):
    with pytest.raises(Refused) as refused:
        OwnerLock(tmp_path).take("window")
    assert refused.value.code == "owner.other_with_port"
    assert refused.value.values == {"pid": other.pid, "url": "http://127.0.0.1:2412"}


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_owner_lets_go_of_the_folder(tmp_path, other, end):
    other.send_signal(end)
    other.wait()
    lock = OwnerLock(tmp_path)
    assert lock.owner() == Owner(other.pid, "serve", "http://127.0.0.1:2412")
    lock.take("window")
    assert lock.owner() == Owner(os.getpid(), "window")
    lock.release()


@pytest.mark.parametrize("told", ["", "[]", "{", '{"pid": "x"}', '{"pid": 1, "kind": "serve"}'])
def test_a_damaged_note_does_not_hide_that_there_is_an_owner(tmp_path, other, told):
    (tmp_path / "in-use.json").write_text(told)
    with pytest.raises(Refused) as refused:
        OwnerLock(tmp_path).take("window")
    assert refused.value.code == "owner.other"


def test_an_owner_without_a_port(tmp_path, other):
    (tmp_path / "in-use.json").write_text(json.dumps({"pid": 7, "kind": "window", "url": None}))
    with pytest.raises(Refused) as refused:
        OwnerLock(tmp_path).take("serve")
    assert (refused.value.code, refused.value.values) == ("owner.other_without_port", {"pid": 7})


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile) as bad:
        OwnerLock(tmp_path / "file" / "data").take("serve")
    assert bad.value.code == "owner.unwritable"


def test_who_is_not_the_owner_tells_nothing(tmp_path):
    owner, other = OwnerLock(tmp_path), OwnerLock(tmp_path)
    owner.take("window")
    other.tell("serve", "http://127.0.0.1:1")
    assert owner.held
    assert not other.held
    assert other.owner().kind == "window"
    owner.release()
    assert not owner.held


def test_one_holder_of_a_file_lock(tmp_path):
    first, second = FileLock(tmp_path / "x.lock"), FileLock(tmp_path / "x.lock")
    assert first.take()
    assert not second.take()
    first.release()
    assert not (tmp_path / "x.lock").exists()
    assert second.take()
    second.release()
    second.release()


def test_a_file_lock_that_was_removed_under_its_holder_is_taken_anew(tmp_path):
    first, second = FileLock(tmp_path / "x.lock"), FileLock(tmp_path / "x.lock")
    assert first.take()
    (tmp_path / "x.lock").unlink()
    assert second.take()
    first.release()
    assert (tmp_path / "x.lock").exists()
    second.release()
    assert not (tmp_path / "x.lock").exists()


def test_a_file_lock_among_many_threads(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(50):
            lock = FileLock(tmp_path / "x.lock")
            if lock.take():
                inside.append(1)
                most.append(len(inside))
                inside.pop()
                lock.release()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
