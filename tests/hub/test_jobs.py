from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile, Refused, Unreachable, WeighbridgeError
from weighbridge.formats.variant import Variant
from weighbridge.hub.job_list import JobList
from weighbridge.hub.job_store import JobStore
from weighbridge.hub.jobs import Job, JobFile, State, error_as_json, error_of_json, job_of
from weighbridge.hub.layout import Layout, shelf_in_folder
from weighbridge.hub.relist import relisted
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.wanted import Wanted

FILES = (JobFile(RemoteFile("a.gguf", 5, "d" * 64)), JobFile(RemoteFile("c.json", 2, None, "e" * 40), True, True))
JOB = Job("o/r", "main", "c" * 40, "Q8_0", Path("/models/o/r"), Layout.FOLDER, FILES)


@pytest.fixture
def store(tmp_path):
    database = Database(tmp_path / "db")
    yield JobStore(database)
    database.close()


def test_a_job_comes_back_as_it_was_kept(store):
    kept = store.add(JOB)
    assert kept.id == 1
    assert store.all() == [kept]
    changed = replace(kept, state=State.PAUSED, error=Refused("disk.full", path="/", free_bytes=3), for_room=True)
    store.save(changed)
    (back,) = store.all()
    assert (back.state, back.for_room, back.error.code, back.error.values) == (
        State.PAUSED,
        True,
        "disk.full",
        {"path": "/", "free_bytes": 3},
    )
    assert replace(back, error=None) == replace(changed, error=None)


def test_the_order_is_kept(store):
    ids = [store.add(JOB).id for _ in range(3)]
    store.order([ids[2], ids[0], ids[1]])
    assert [job.id for job in store.all()] == [ids[2], ids[0], ids[1]]
    last = store.add(JOB)
    assert store.all()[-1] == last
    store.remove(ids[0])
    assert store.ids() == {ids[1], ids[2], last.id}


def test_a_row_that_cannot_be_read_is_passed_over(store, tmp_path):
    store.add(JOB)
    good = store.add(JOB)
    database = Database(tmp_path / "db")
    unsafe = store.add(replace(JOB, files=(JobFile(RemoteFile("../../a.gguf", 5)),)))
    with database.transaction() as connection:
        connection.execute("UPDATE downloads SET files = '{' WHERE id = 1")
    database.close()
    assert unsafe.id in store.ids()
    assert store.all() == [good]


@pytest.mark.parametrize("kind", [BadFile, Refused, Unreachable, WeighbridgeError])
def test_errors_come_back_as_they_were(kind):
    back = error_of_json(error_as_json(kind("hub.x", name="n", there=["a"])))
    assert type(back) is kind
    assert (back.code, back.values) == ("hub.x", {"name": "n", "there": ["a"]})
    assert error_of_json(error_as_json(None)) is None


def test_a_job_of_what_is_wanted(tmp_path):
    repository = Repository("o/r", "main", "c" * 40, (FILES[0].file,))
    wanted = Wanted(repository, Variant("gguf", "a", "Q8_0"), (FILES[0].file,))
    made = job_of(wanted, shelf_in_folder(tmp_path, "o/r", "main", "c" * 40))
    assert (made.label, made.size_bytes, made.state, made.is_whole) == ("Q8_0", 5, State.QUEUED, False)
    assert made.shelf.place(FILES[0].file) == tmp_path / "o/r/a.gguf"


def test_listed_anew_it_has_the_files_of_now():
    now = RemoteFile("a.gguf", 9, "f" * 64)
    made = relisted(JOB, Repository("o/r", "main", "b" * 40, (now, FILES[1].file)))
    assert (made.commit, made.files) == ("b" * 40, (JobFile(now), JobFile(FILES[1].file)))
    with pytest.raises(Refused) as caught:
        relisted(JOB, Repository("o/r", "main", "b" * 40, (now,)))
    assert caught.value.values == {"repo_id": "o/r", "path": "c.json"}


def test_what_an_unfinished_job_has_done_counts_for_its_successor(store):
    jobs = JobList(store)
    jobs.admit(store.add(JOB))
    anew = replace(JOB, files=tuple(JobFile(each.file) for each in FILES))
    jobs.admit(store.add(anew))
    (kept,) = jobs
    assert kept.files == FILES
    assert store.all() == [kept]
    jobs.put(replace(kept, state=State.DONE))
    jobs.admit(store.add(anew))
    assert [job.files for job in jobs] == [anew.files]


def test_those_that_were_being_fetched_wait_again_for_a_new_owner(store):
    for state in (State.RUNNING, State.RETRYING, State.VERIFYING, State.PAUSED, State.DONE):
        store.add(replace(JOB, state=state, root=JOB.root / state))
    jobs = JobList(store)
    jobs.read(own=True)
    queued = State.QUEUED
    assert [job.state for job in jobs] == [queued, queued, queued, State.PAUSED, State.DONE]
    jobs.read(own=False)
    assert next(iter(jobs)).state is State.RUNNING
