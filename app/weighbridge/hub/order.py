"""Which files are fetched next. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from weighbridge.hub.jobs import Job, State

LISTING = -1
"""In the place of a file's index: the job's repository is to be listed first."""

Key = tuple[int, int]
"""A job's id and the index of one of its files."""


def next_files(jobs: Iterable[Job], active: Set[Key], writing: Set[Path], at_once: int) -> list[Key]:
    """The files to begin with now, by the order of the jobs and of their files, so that `at_once` are being fetched.

    No two write to the same place: `writing` are those that are being written to.
    """
    chosen: list[Key] = []
    taken = set(writing)
    for key, target in _waiting(jobs):
        if len(active) + len(chosen) >= at_once:
            break
        if key not in active and target not in taken:
            chosen.append(key)
            taken |= {target} if target is not None else set()
    return chosen


def _waiting(jobs: Iterable[Job]) -> Iterator[tuple[Key, Path | None]]:
    for job in jobs:
        if job.state is not State.QUEUED:
            continue
        if job.commit is None:
            yield (job.id, LISTING), None
            continue
        for index, each in enumerate(job.files):
            if not each.done and not _comes_last(job, index):
                yield (job.id, index), job.shelf.target(each.file)


def _comes_last(job: Job, index: int) -> bool:
    """Whether a file has to wait for the others of its job: the one by which a folder is known as a model."""
    others = job.files[:index]
    is_last = index == len(job.files) - 1 and not job.files[index].file.path.lower().endswith(".gguf")
    return is_last and not all(each.done for each in others)
