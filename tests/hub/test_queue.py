import threading
import time
from dataclasses import replace

import pytest
from tests.hub.made_source import COMMIT, LATER, Broken, MadeSource, content, remote

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile, NotFound, Refused, Unreachable
from weighbridge.hub import queue as queue_module
from weighbridge.hub.job_store import JobStore
from weighbridge.hub.jobs import Job, JobFile, State
from weighbridge.hub.layout import Layout, shelf_in_folder
from weighbridge.hub.promises import Promises
from weighbridge.hub.queue import Limits, Queue
from weighbridge.hub.space import Volume

A, B, C = content("a", 40_000), content("b", 30_000), content("c", 20_000)
UNREACHABLE = Unreachable("hub.unreachable", host="cdn.local", reason="reset")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for name, value in {"TOLD_S": 0.005, "IDLE_S": 0.02, "ROOM_S": 0.02, "SHARED_S": 0.01, "HOLD_S": 0.05}.items():
        monkeypatch.setattr(queue_module, name, value)


@pytest.fixture
def store(tmp_path):
    database = Database(tmp_path / "data" / "weighbridge.sqlite3")
    yield JobStore(database)
    database.close()


@pytest.fixture
def start(tmp_path, store):
    """Queues over the same data folder and database, closed at the end."""
    made = []

    def put(source, at_once=2, **options):
        queue = Queue(source, store, tmp_path / "data", lambda: Limits(at_once), **options)
        made.append(queue)
        return queue

    yield put
    for queue in reversed(made):
        queue.close()


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


@pytest.fixture
def job(models):
    def put(files, commit=COMMIT, revision="main"):
        shelf = shelf_in_folder(models, "o/r", revision, commit)
        wanted = tuple(JobFile(remote(path, data)) for path, data in files.items())
        return Job("o/r", revision, commit, "Q8_0", shelf.root, Layout.FOLDER, wanted)

    return put


def until(seen):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found := seen():
            return found
        time.sleep(0.002)
    raise AssertionError("it did not come about")


def in_state(queue, job_id, state):
    def seen():
        found = queue.snapshot().job(job_id)
        return found if found is not None and found.state is state else None

    return until(seen)


def left(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_all_files_of_a_job_come(start, job, models):
    queue = start(MadeSource({"s/a.gguf": A, "config.json": b"{}"}))
    done = in_state(queue, queue.add(job({"s/a.gguf": A, "config.json": b"{}"})), State.DONE)
    assert (models / "o/r/s/a.gguf").read_bytes() == A
    assert left(models) == ["o/r/config.json", "o/r/s/a.gguf"]
    assert (done.done_bytes, done.total_bytes, done.seconds_left) == (40_002, 40_002, 0)
    assert [file.state for file in done.files] == [State.DONE, State.DONE]
    assert done.place == models / "o/r/s"


def test_so_many_at_once_and_the_first_job_first(start, job):
    source = MadeSource({"a.gguf": A, "b.gguf": B, "c.gguf": C}, gate=threading.Event())
    queue = start(source)
    first, second = queue.add(job({"a.gguf": A, "b.gguf": B})), queue.add(job({"c.gguf": C}))
    running = in_state(queue, first, State.RUNNING)
    until(lambda: len(source.starts) == 2)
    assert [file.state for file in running.files] == [State.RUNNING, State.RUNNING]
    assert queue.snapshot().job(second).state is State.QUEUED
    source.gate.set()
    in_state(queue, second, State.DONE)
    assert len(source.starts) == 3


def test_a_job_can_be_moved_to_the_front(start, job):
    source = MadeSource({"a.gguf": A, "b.gguf": B, "c.gguf": C}, gate=threading.Event())
    queue = start(source, at_once=1)
    ids = [queue.add(job({name: data})) for name, data in (("a.gguf", A), ("b.gguf", B), ("c.gguf", C))]
    in_state(queue, ids[0], State.RUNNING)
    queue.move(ids[2], 1)
    assert [each.id for each in queue.snapshot().jobs] == [ids[0], ids[2], ids[1]]
    source.gate.set()
    in_state(queue, ids[1], State.DONE)
    assert source.opened == ["a.gguf", "c.gguf", "b.gguf"]


def stalled(*files, **values):
    return MadeSource(dict(files), broken=[Broken(15_000, stalls=True)], **values)


def test_a_stalled_job_is_paused_at_once_and_goes_on_at_its_last_byte(start, job, models):
    source = stalled(("a.gguf", A))
    queue = start(source)
    job_id = queue.add(job({"a.gguf": A}))
    until(lambda: queue.snapshot().job(job_id).done_bytes == 15_000)
    queue.pause(job_id)
    assert queue.snapshot().job(job_id).state is State.PAUSED
    until(lambda: not queue._active)
    assert left(models) == ["o/r/a.gguf.part", "o/r/a.gguf.part.json"]
    queue.resume(job_id)
    in_state(queue, job_id, State.DONE)
    assert source.starts == [0, 15_000]
    assert (models / "o/r/a.gguf").read_bytes() == A


def test_a_cancel_removes_what_the_job_has_brought_and_nothing_else(start, job, models):
    (models / "o" / "other").mkdir(parents=True)
    (models / "o/other/mine.gguf").write_bytes(b"mine")
    source = MadeSource({"b.gguf": B, "a.gguf": A}, broken=[Broken(len(B)), Broken(5_000, stalls=True)])
    queue = start(source, at_once=1)
    job_id = queue.add(job({"b.gguf": B, "a.gguf": A}))
    until(lambda: queue.snapshot().job(job_id).done_bytes == 35_000)
    queue.cancel(job_id)
    assert queue.snapshot().job(job_id).state is State.CANCELLED
    until(lambda: left(models) == ["o/other/mine.gguf"])
    until(lambda: not (models / "o/r").exists())
    queue.retry(job_id)
    in_state(queue, job_id, State.DONE)
    assert (models / "o/r/b.gguf").read_bytes() == B


def test_a_cancel_leaves_what_was_here_before(start, job, models):
    (models / "o" / "r").mkdir(parents=True)
    (models / "o/r/b.gguf").write_bytes(B)
    queue = start(stalled(("a.gguf", A), ("b.gguf", B)), at_once=1)
    job_id = queue.add(job({"b.gguf": B, "a.gguf": A}))
    until(lambda: queue.snapshot().job(job_id).done_bytes == 45_000)
    queue.cancel(job_id)
    until(lambda: left(models) == ["o/r/b.gguf"])


def test_a_cancel_leaves_what_another_job_needs(start, job, models):
    source = MadeSource({"a.gguf": A, "b.gguf": B, "c.gguf": C})
    source.broken = [Broken(len(A)), Broken(5_000, stalls=True)]
    queue = start(source, at_once=1)
    first = queue.add(job({"a.gguf": A, "b.gguf": B}))
    until(lambda: queue.snapshot().job(first).done_bytes == 45_000)
    second = queue.add(job({"a.gguf": A, "c.gguf": C}))
    queue.cancel(first)
    in_state(queue, second, State.DONE)
    until(lambda: left(models) == ["o/r/a.gguf", "o/r/c.gguf"])


def test_a_refusal_ends_a_job_until_it_is_tried_again(start, job):
    gated = Refused("hub.gated", repo_id="o/r", page="p")
    queue = start(MadeSource({"a.gguf": A}, answers=[gated]))
    job_id = queue.add(job({"a.gguf": A}))
    assert in_state(queue, job_id, State.FAILED).error is gated
    queue.retry(job_id)
    assert in_state(queue, job_id, State.DONE).error is None


def test_a_failed_file_stops_the_others_of_its_job(start, job):
    source = stalled(("a.gguf", A), ("b.gguf", B))
    queue = start(source)
    job_id = queue.add(job({"a.gguf": A, "gone.gguf": B}))
    assert in_state(queue, job_id, State.FAILED).error.code == "hub.changed"
    until(lambda: not queue._active)


def test_while_it_waits_for_the_next_attempt_it_says_why_and_can_be_hurried(start, job):
    queue = start(MadeSource({"a.gguf": A}, answers=[Unreachable("hub.rate_limit", seconds=600)]))
    job_id = queue.add(job({"a.gguf": A}))
    waiting = in_state(queue, job_id, State.RETRYING)
    assert waiting.error.code == "hub.rate_limit"
    assert 500 < waiting.retry_in_s <= 600
    queue.retry(job_id)
    in_state(queue, job_id, State.DONE)


def test_offline_pauses(start, job):
    queue = start(MadeSource({"a.gguf": A}, answers=[Refused("hub.offline")]))
    job_id = queue.add(job({"a.gguf": A}))
    assert in_state(queue, job_id, State.PAUSED).error.code == "hub.offline"
    queue.resume(job_id)
    in_state(queue, job_id, State.DONE)


def test_the_switch_stops_what_is_being_fetched_and_lets_it_go_on(tmp_path, store, job):
    source = stalled(("a.gguf", A))
    offline = [False]
    queue = Queue(source, store, tmp_path / "data", lambda: Limits(offline=offline[0]))
    try:
        job_id = queue.add(job({"a.gguf": A}))
        until(lambda: queue.snapshot().job(job_id).done_bytes == 15_000)
        offline[0] = True
        in_state(queue, job_id, State.QUEUED)
        offline[0] = False
        in_state(queue, job_id, State.DONE)
        assert source.starts == [0, 15_000]
    finally:
        queue.close()


def test_what_ran_goes_on_at_the_next_start_and_what_was_paused_stays_so(start, job, models):
    source = stalled(("a.gguf", A), ("b.gguf", B))
    queue = start(source, at_once=1)
    running, paused = queue.add(job({"a.gguf": A})), queue.add(job({"b.gguf": B}))
    queue.pause(paused)
    until(lambda: queue.snapshot().job(running).done_bytes == 15_000)
    queue.close()
    again = start(source)
    in_state(again, running, State.DONE)
    assert source.starts == [0, 15_000]
    assert again.snapshot().job(paused).state is State.PAUSED
    assert left(models) == ["o/r/a.gguf"]


def test_what_a_killed_owner_was_at_is_queued_again(start, job, store):
    kept = store.add(replace(job({"a.gguf": A}), state=State.VERIFYING))
    queue = start(MadeSource({"a.gguf": A}))
    in_state(queue, kept.id, State.DONE)


def test_a_queue_that_could_not_be_read_at_first_goes_on_later(start, job, store, monkeypatch):
    kept = store.add(replace(job({"a.gguf": A}), state=State.RUNNING))
    read, failures = store.all, [BadFile("database.failed", path="p", reason="locked")]

    def fails_once():
        if failures:
            raise failures.pop()
        return read()

    monkeypatch.setattr(store, "all", fails_once)
    queue = start(MadeSource({"a.gguf": A}))
    assert not queue.snapshot().owner
    in_state(queue, kept.id, State.DONE)


def test_others_add_and_watch_and_the_owner_fetches(start, job):
    source = MadeSource({"a.gguf": A, "b.gguf": B}, gate=threading.Event())
    owner, other = start(source), start(MadeSource())
    assert (owner.snapshot().owner, other.snapshot().owner) == (True, False)
    job_id = other.add(job({"a.gguf": A}))
    in_state(other, job_id, State.RUNNING)
    with pytest.raises(Refused) as caught:
        other.pause(job_id)
    assert caught.value.code == "hub.other_owner"
    source.gate.set()
    in_state(other, job_id, State.DONE)


def test_another_takes_over_when_the_owner_ends(start, job):
    source = stalled(("a.gguf", A))
    owner, other = start(source), start(source)
    job_id = owner.add(job({"a.gguf": A}))
    until(lambda: owner.snapshot().job(job_id).done_bytes == 15_000)
    owner.close()
    in_state(other, job_id, State.DONE)
    assert other.snapshot().owner
    assert source.starts == [0, 15_000]


def test_only_what_it_takes_is_fetched(start, job, store):
    left_alone = store.add(job({"a.gguf": A}))
    queue = start(MadeSource({"a.gguf": A, "b.gguf": B}), takes=lambda each: each.id > left_alone.id)
    in_state(queue, queue.add(job({"b.gguf": B})), State.DONE)
    assert queue.snapshot().job(left_alone.id).state is State.QUEUED


def test_without_room_a_job_is_paused_with_numbers_and_goes_on_by_itself(start, job, monkeypatch):
    free = [100]
    monkeypatch.setattr(queue_module, "volume_of", lambda folder: Volume(1, free[0]))
    queue = start(MadeSource({"a.gguf": A}))
    job_id = queue.add(job({"a.gguf": A}))
    paused = in_state(queue, job_id, State.PAUSED)
    assert paused.for_room
    assert paused.error.code == "disk.full"
    assert paused.error.values["free_bytes"] == 100
    assert paused.error.values["needed_bytes"] == len(A) + (256 << 20)
    assert queue.snapshot().open == (paused,)
    free[0] = 1 << 40
    in_state(queue, job_id, State.DONE)


def test_of_two_that_fit_one_by_one_the_second_waits(start, job, monkeypatch):
    source = MadeSource({"a.gguf": A, "b.gguf": B}, gate=threading.Event())
    free = [(256 << 20) + 50_000]
    monkeypatch.setattr(queue_module, "volume_of", lambda folder: Volume(1, free[0]))
    queue = start(source)
    first, second = queue.add(job({"a.gguf": A})), queue.add(job({"b.gguf": B}))
    assert in_state(queue, second, State.PAUSED).error.values["needed_bytes"] == 70_000 + (256 << 20)
    assert queue.snapshot().job(first).state is State.RUNNING
    source.gate.set()
    in_state(queue, second, State.DONE)


def test_a_disk_that_fills_up_meanwhile_loses_nothing(start, job, models, monkeypatch):
    from weighbridge.hub import part

    full = threading.Event()
    write = part.Part.write

    def written(self, piece):
        if full.is_set() and self.have_bytes >= 20_000:
            raise Refused("disk.full", path=str(models), needed_bytes=1, free_bytes=0)
        write(self, piece)

    monkeypatch.setattr(part.Part, "write", written)
    monkeypatch.setattr(queue_module, "HOLD_S", 0.3)
    full.set()
    queue = start(MadeSource({"a.gguf": A}))
    job_id = queue.add(job({"a.gguf": A}))
    paused = in_state(queue, job_id, State.PAUSED)
    assert (paused.for_room, paused.done_bytes) == (True, 20_000)
    full.clear()
    in_state(queue, job_id, State.DONE)
    assert (models / "o/r/a.gguf").read_bytes() == A


def test_after_a_change_upstream_a_retry_fetches_what_is_there_now(start, job, models):
    source = MadeSource({"a.gguf": C}, commit=LATER)
    queue = start(source)
    job_id = queue.add(job({"a.gguf": A}))
    assert in_state(queue, job_id, State.FAILED).error.code == "hub.changed"
    source.answers.append(UNREACHABLE)
    queue.retry(job_id)
    assert in_state(queue, job_id, State.DONE).total_bytes == len(C)
    assert (models / "o/r/a.gguf").read_bytes() == C


def test_after_a_change_upstream_the_file_may_be_gone(start, job):
    source = MadeSource({"b.gguf": B}, commit=LATER)
    queue = start(source)
    job_id = queue.add(job({"a.gguf": A}))
    in_state(queue, job_id, State.FAILED)
    queue.retry(job_id)
    until(lambda: (error := queue.snapshot().job(job_id).error) and error.code == "hub.no_file")


def test_the_same_files_that_were_added_while_there_was_no_owner_are_one_job(start, job, store):
    ids = [store.add(job({"a.gguf": A})).id for _ in range(3)]
    other = store.add(job({"b.gguf": B})).id
    queue = start(MadeSource({"a.gguf": A, "b.gguf": B}))
    in_state(queue, ids[-1], State.DONE)
    in_state(queue, other, State.DONE)
    assert [each.id for each in queue.snapshot().jobs] == [ids[-1], other]
    assert store.ids() == {ids[-1], other}


def test_the_same_files_again_are_one_job(start, job):
    source = MadeSource({"a.gguf": A})
    queue = start(source)
    first = queue.add(job({"a.gguf": A}))
    in_state(queue, first, State.DONE)
    second = queue.add(job({"a.gguf": A}))
    in_state(queue, second, State.DONE)
    assert [each.id for each in queue.snapshot().jobs] == [second]
    assert source.starts == [0]


def test_an_unfinished_job_that_is_added_again_goes_on_in_its_place(start, job):
    source = MadeSource({"a.gguf": A, "b.gguf": B, "c.gguf": C}, broken=[Broken(len(A)), Broken(5_000, stalls=True)])
    queue = start(source, at_once=1)
    first = queue.add(job({"a.gguf": A, "b.gguf": B}))
    other = queue.add(job({"c.gguf": C}))
    until(lambda: queue.snapshot().job(first).done_bytes == 45_000)
    again = queue.add(job({"a.gguf": A, "b.gguf": B}))
    assert [each.id for each in queue.snapshot().jobs] == [again, other]
    in_state(queue, other, State.DONE)
    assert source.starts == [0, 0, 5_000, 0]


def test_what_has_ended_can_be_forgotten(start, job, models, store):
    queue = start(MadeSource({"a.gguf": A}))
    done, failed = queue.add(job({"a.gguf": A})), queue.add(job({"gone.gguf": B}))
    in_state(queue, done, State.DONE)
    in_state(queue, failed, State.FAILED)
    queue.forget(done)
    queue.forget(failed)
    until(lambda: not queue.snapshot().jobs)
    assert left(models) == ["o/r/a.gguf"]
    assert store.all() == []
    with pytest.raises(NotFound) as caught:
        queue.pause(done)
    assert caught.value.code == "hub.no_job"


def test_a_database_that_cannot_be_written_stops_nothing(start, job, store, monkeypatch):
    source = MadeSource({"a.gguf": A}, gate=threading.Event())
    queue = start(source)
    job_id = queue.add(job({"a.gguf": A}))

    def fails(*values):
        raise BadFile("database.failed", path="p", reason="full")

    monkeypatch.setattr(store, "save", fails)
    monkeypatch.setattr(store, "ids", fails)
    source.gate.set()
    in_state(queue, job_id, State.DONE)


def test_listeners_are_told_until_they_leave(start, job):
    queue = start(MadeSource({"a.gguf": A, "b.gguf": B}))
    seen = []
    leave = queue.subscribe(seen.append)
    job_id = queue.add(job({"a.gguf": A}))
    until(lambda: seen and seen[-1].job(job_id).state is State.DONE)
    leave()
    count = len(seen)
    in_state(queue, queue.add(job({"b.gguf": B})), State.DONE)
    assert len(seen) <= count + 1


def test_a_listener_that_fails_stops_nothing(start, job, caplog):
    queue = start(MadeSource({"a.gguf": A}))
    queue.subscribe(lambda snapshot: 1 // 0)
    in_state(queue, queue.add(job({"a.gguf": A})), State.DONE)
    until(lambda: "a listener failed" in caplog.text)


def test_a_fault_of_our_own_ends_the_job_and_not_the_queue(start, job, caplog):
    source = MadeSource({"a.gguf": A, "b.gguf": B}, answers=[ZeroDivisionError()])
    queue = start(source, at_once=1)
    broken, sound = queue.add(job({"a.gguf": A})), queue.add(job({"b.gguf": B}))
    in_state(queue, sound, State.DONE)
    assert in_state(queue, broken, State.FAILED).error.values == {"kind": "ZeroDivisionError"}
    assert "a download failed" in caplog.text


def test_what_another_program_is_writing_is_waited_for(start, tmp_path, job, models, monkeypatch):
    monkeypatch.setattr(queue_module, "BUSY_S", 0.02)
    source = MadeSource({"a.gguf": A}, gate=threading.Event())
    first = start(source)
    writing = first.add(job({"a.gguf": A}))
    until(lambda: first.snapshot().job(writing).state is State.RUNNING and source.starts)
    database = Database(tmp_path / "else" / "db")
    second = Queue(source, JobStore(database), tmp_path / "else")
    try:
        waiting = second.add(job({"a.gguf": A}))
        told = until(lambda: (view := second.snapshot().job(waiting)).error and view)
        assert (told.state, told.error.code) == (State.QUEUED, "download.busy")
        source.gate.set()
        in_state(first, writing, State.DONE)
        in_state(second, waiting, State.DONE)
        assert source.starts == [0]
    finally:
        second.close()
        database.close()


def test_two_branches_live_side_by_side(start, job, models):
    queue = start(MadeSource({"a.gguf": A}))
    ids = [queue.add(job({"a.gguf": A}, revision=revision)) for revision in ("main", "4.0bpw")]
    for job_id in ids:
        in_state(queue, job_id, State.DONE)
    assert left(models) == ["o/r/a.gguf", "o/r@4.0bpw/a.gguf"]


def test_what_a_file_must_be_is_known_for_longer_than_its_job(start, job, models, tmp_path):
    queue = start(MadeSource({"a.gguf": A}))
    job_id = queue.add(job({"a.gguf": A}))
    in_state(queue, job_id, State.DONE)
    queue.forget(job_id)
    until(lambda: queue.snapshot().job(job_id) is None)
    other = Database(tmp_path / "data" / "weighbridge.sqlite3")
    path = models / "o" / "r" / "a.gguf"
    promise = Promises(other).of(path)
    assert promise.sha256 == remote("a.gguf", A).sha256
    assert promise.is_of(path.stat())
    path.write_bytes(B)
    assert not promise.is_of(path.stat())
    assert Promises(other).of(path) == promise
    other.close()
