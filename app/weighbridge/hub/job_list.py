"""The jobs in memory and in the database, in one order. Not for more than one thread at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from weighbridge.base.errors import NotFound, WeighbridgeError
from weighbridge.hub.job_store import JobStore
from weighbridge.hub.jobs import ACTIVE, ENDED, Job, State
from weighbridge.hub.part import part_bytes


class JobList:
    """All jobs. A database that cannot be written, as on a full disk, stops nothing: it is told at the next change."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._jobs: list[Job] = []
        self._have: dict[tuple[int, int], int] = {}

    def __iter__(self) -> Iterator[Job]:
        return iter(tuple(self._jobs))

    def read(self, own: bool) -> None:
        """Read all from the database; `own`: as their new owner, for whom those that were being fetched wait again."""
        jobs = self._store.all()
        if own:
            jobs = [replace(job, state=State.QUEUED, error=None) if job.state in ACTIVE else job for job in jobs]
        self._jobs = jobs
        self._have.clear()
        for job in sorted(jobs, key=lambda each: each.id) if own else ():
            self._succeed(job)  # somebody may have added it while nobody was the owner

    def added(self) -> list[Job]:
        """The jobs that others have put into the database."""
        known = {job.id for job in self._jobs}
        if not self._store.ids() - known:
            return []
        return [job for job in self._store.all() if job.id not in known]

    def find(self, job_id: int) -> Job | None:
        """The job of that id."""
        return next((job for job in self._jobs if job.id == job_id), None)

    def get(self, job_id: int) -> Job:
        """The job of that id. Raises NotFound("hub.no_job")."""
        job = self.find(job_id)
        if job is None:
            raise NotFound("hub.no_job")
        return job

    def older(self, job: Job) -> Job | None:
        """An earlier job for the same files in the same place."""
        return next((each for each in self._jobs if each.is_same_as(job) and each.id < job.id), None)

    def admit(self, job: Job) -> None:
        """Take a new job behind all others, or in the place of an older, unfinished one for the same files."""
        self._jobs.append(job)
        self._succeed(job)

    def _succeed(self, job: Job) -> None:
        older = self.older(job)
        if older is None:
            return
        at = self._jobs.index(older)
        self.remove(older.id)
        self.put(_carried(older, job))
        if older.state not in ENDED:
            self.move(self.get(job.id), at)

    def put(self, job: Job) -> None:
        """`job` in the place of what was known of it."""
        self._jobs = [job if each.id == job.id else each for each in self._jobs]
        self._keep(self._store.save, job)

    def show(self, job: Job) -> None:
        """Write down, for other processes alone, how `job` stands."""
        self._keep(self._store.save, job)

    def move(self, job: Job, index: int) -> None:
        """Put `job` at place `index`."""
        self._jobs.remove(job)
        self._jobs.insert(max(0, index), job)
        self._keep(self._store.order, [each.id for each in self._jobs])

    def remove(self, job_id: int) -> None:
        """Forget a job."""
        self._jobs = [job for job in self._jobs if job.id != job_id]
        self._keep(self._store.remove, job_id)

    def needed_by_others(self, job: Job) -> set[Path]:
        """Where the files of all other jobs lie that are not cancelled."""
        others = (each for each in self._jobs if each.id != job.id and each.state is not State.CANCELLED)
        return {each.shelf.target(file.file) for each in others for file in each.files}

    def have_bytes(self, job: Job, index: int) -> int:
        """What is on the disk of a file that is not being fetched; looked up once, until `changed`."""
        each = job.files[index]
        if each.done:
            return each.file.size_bytes
        key = (job.id, index)
        if key not in self._have:
            self._have[key] = part_bytes(job.shelf.target(each.file))
        return self._have[key]

    def changed(self, job_id: int, index: int) -> None:
        """What is on the disk of a file has changed."""
        self._have.pop((job_id, index), None)

    def _keep(self, write: Callable[..., None], *values: object) -> None:
        with suppress(WeighbridgeError):
            write(*values)


def _carried(older: Job, job: Job) -> Job:
    """`job` with what an unfinished `older` one has done of the same files already."""
    if older.state in ENDED:
        return job
    known = {each.file: each for each in older.files}
    return replace(job, files=tuple(known.get(each.file, each) for each in job.files))
