from dataclasses import replace
from pathlib import Path

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.hub.jobs import Job, JobFile, State
from weighbridge.hub.layout import Layout
from weighbridge.hub.remote import RemoteFile
from weighbridge.hub.snapshot import Active, Snapshot, job_view
from weighbridge.hub.transfer import Phase, Standing

FILES = tuple(JobFile(RemoteFile(path, 100)) for path in ("s/a", "s/b", "s/c"))
JOB = Job("o/r", "main", "c" * 40, "Q8_0", Path("/m/o/r"), Layout.FOLDER, FILES, id=1)
FAULT = Unreachable("hub.unreachable", host="h", reason="r")


def active(phase, have, speed=None, **told):
    return Active(Standing(phase, **told), have, speed)


def test_a_job_with_files_in_every_state():
    job = JOB.with_file(0, done=True)
    view = job_view(job, {1: active(Phase.RECEIVING, 40, 10.0)}, (0, 30, 20), 0)
    assert [file.state for file in view.files] == [State.DONE, State.RUNNING, State.QUEUED]
    assert [file.done_bytes for file in view.files] == [100, 40, 20]
    assert (view.state, view.done_bytes, view.total_bytes) == (State.RUNNING, 160, 300)
    assert (view.bytes_s, view.seconds_left) == (10, 14)
    assert view.place == Path("/m/o/r/s")


def test_of_several_files_the_fastest_news_counts():
    receiving, verifying = active(Phase.RECEIVING, 1, 2.0), active(Phase.VERIFYING, 100, checked_bytes=50)
    retrying = active(Phase.RETRYING, 5, attempt=3, retry_at=110.0, error=FAULT)
    none = (0, 0, 0)
    assert job_view(JOB, {0: receiving, 1: retrying}, none, 100).state is State.RUNNING
    waits = job_view(JOB, {0: verifying, 1: retrying}, none, 100)
    assert (waits.state, waits.attempt, waits.retry_in_s, waits.error) == (State.RETRYING, 3, 10, FAULT)
    checks = job_view(JOB, {0: verifying}, none, 100)
    assert (checks.state, checks.files[0].checked_bytes, checks.retry_in_s) == (State.VERIFYING, 50, None)


def test_what_was_in_the_way_before_is_not_told_while_it_runs():
    job = replace(JOB, error=Refused("download.busy", name="a"))
    assert job_view(job, {}, (0, 0, 0), 0).error is job.error
    assert job_view(job, {0: active(Phase.RECEIVING, 1)}, (0, 0, 0), 0).error is None
    shared = replace(JOB, state=State.RETRYING, error=FAULT)
    view = job_view(shared, {}, (0, 0, 0), 0)
    assert (view.state, view.error) == (State.RETRYING, FAULT)


def test_without_a_speed_the_time_is_unknown():
    view = job_view(JOB, {0: active(Phase.RECEIVING, 1, 0.0), 1: active(Phase.CONNECTING, 0)}, (0, 0, 0), 0)
    assert view.seconds_left is None
    assert job_view(JOB, {}, (0, 0, 0), 0).bytes_s is None


def test_all_together():
    error = Refused("disk.full", path="/", needed_bytes=1, free_bytes=0)
    waiting = replace(JOB, id=2, state=State.PAUSED, for_room=True, error=error)
    views = [
        job_view(JOB, {0: active(Phase.RECEIVING, 50, 25.0)}, (0, 0, 0), 0),
        job_view(waiting, {}, (10, 0, 0), 0),
        job_view(replace(JOB, id=3, state=State.PAUSED), {}, (10, 0, 0), 0),
        job_view(replace(JOB, id=4, state=State.DONE), {}, (10, 0, 0), 0),
    ]
    both = Snapshot(tuple(views), True)
    assert [view.id for view in both.open] == [1, 2]
    assert (both.done_bytes, both.total_bytes, both.bytes_s, both.seconds_left) == (60, 600, 25, 21.6)
    assert both.job(3).state is State.PAUSED
    assert both.job(9) is None
    assert Snapshot().seconds_left == 0
