from dataclasses import replace
from pathlib import Path

from weighbridge.hub.jobs import Job, JobFile, State
from weighbridge.hub.layout import Layout
from weighbridge.hub.order import LISTING, next_files
from weighbridge.hub.remote import RemoteFile


def job(job_id, *paths, state=State.QUEUED, commit="c" * 40):
    files = tuple(JobFile(RemoteFile(path, 10)) for path in paths)
    return Job("o/r", "main", commit, "Q8_0", Path("/models/o/r"), Layout.FOLDER, files, state, id=job_id)


def test_the_files_of_the_first_job_come_first():
    jobs = [job(1, "a.gguf", "b.gguf", "c.gguf"), job(2, "d")]
    assert next_files(jobs, set(), set(), 2) == [(1, 0), (1, 1)]
    assert next_files(jobs, {(1, 0), (1, 1)}, set(), 3) == [(1, 2)]
    assert next_files(jobs, {(1, 0), (1, 1)}, set(), 2) == []


def test_what_is_done_or_not_waiting_is_passed_over():
    first = job(1, "a", "b").with_file(0, done=True)
    jobs = [first, job(2, "c", state=State.PAUSED), job(3, "d", state=State.FAILED), job(4, "e")]
    assert next_files(jobs, set(), set(), 9) == [(1, 1), (4, 0)]


def test_what_makes_a_folder_a_model_waits_for_the_rest():
    made = job(1, "model.safetensors", "tokenizer.json", "config.json")
    assert next_files([made], set(), set(), 9) == [(1, 0), (1, 1)]
    assert next_files([made.with_file(1, done=True)], {(1, 0)}, set(), 9) == []
    done = made.with_file(0, done=True).with_file(1, done=True)
    assert next_files([done], set(), set(), 9) == [(1, 2)]
    assert next_files([job(1, "m-1.gguf", "m-2.gguf")], set(), set(), 9) == [(1, 0), (1, 1)]


def test_no_two_write_to_the_same_place():
    jobs = [job(1, "a"), job(2, "a"), job(3, "b")]
    assert next_files(jobs, set(), set(), 9) == [(1, 0), (3, 0)]
    assert next_files(jobs, set(), {Path("/models/o/r/b")}, 9) == [(1, 0)]


def test_a_job_without_a_commit_is_listed_first():
    assert next_files([job(1, "a", "b", commit=None)], set(), set(), 9) == [(1, LISTING)]


def test_a_job_is_the_same_by_place_and_files():
    assert job(1, "a", "b").is_same_as(job(2, "b", "a"))
    assert not job(1, "a").is_same_as(job(1, "b"))
    assert not job(1, "a").is_same_as(replace(job(1, "a"), root=Path("/else")))
