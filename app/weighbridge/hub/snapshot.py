"""How all downloads stand at one moment, as immutable values for whoever shows them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.hub.jobs import ACTIVE, ENDED, Job, State
from weighbridge.hub.transfer import Phase, Standing

_OF_PHASE: Mapping[Phase, State] = {
    Phase.CONNECTING: State.RUNNING,
    Phase.RECEIVING: State.RUNNING,
    Phase.RETRYING: State.RETRYING,
    Phase.VERIFYING: State.VERIFYING,
}


@dataclass(frozen=True)
class Active:
    """A file that is being fetched: how it stands, how much of it is here, and its speed."""

    standing: Standing
    have_bytes: int
    bytes_s: float | None = None


@dataclass(frozen=True)
class FileView:
    """One file of a job. `checked_bytes` are those that verifying has read again."""

    path: str
    size_bytes: int
    done_bytes: int
    state: State
    bytes_s: float | None = None
    checked_bytes: int = 0


@dataclass(frozen=True)
class JobView:
    """One job. Speeds are of the last seconds; None before there is one. While its state is RETRYING, `retry_in_s` and
    `attempt` tell of the next try and `error` of why the last one ended; else `error` is why it is paused or failed.
    `for_room`: it goes on by itself once there is room on the disk. `place`: its file, or the folder of its files.
    """

    id: int
    repo_id: str
    revision: str
    label: str
    place: Path
    state: State
    files: tuple[FileView, ...]
    bytes_s: float | None = None
    attempt: int = 1
    retry_in_s: float | None = None
    error: WeighbridgeError | None = None
    for_room: bool = False

    @property
    def done_bytes(self) -> int:
        """What is here of it."""
        return sum(file.done_bytes for file in self.files)

    @property
    def total_bytes(self) -> int:
        """What all of it has."""
        return sum(file.size_bytes for file in self.files)

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take at the speed of the last seconds; None where there is none."""
        return seconds_left(self.total_bytes - self.done_bytes, self.bytes_s)


@dataclass(frozen=True)
class Snapshot:
    """All jobs, in their order. `owner`: it is this process that fetches them."""

    jobs: tuple[JobView, ...] = ()
    owner: bool = False

    def job(self, job_id: int) -> JobView | None:
        """The job of that id."""
        return next((job for job in self.jobs if job.id == job_id), None)

    @property
    def open(self) -> tuple[JobView, ...]:
        """The jobs on the way: neither ended nor paused by the user."""
        return tuple(
            job for job in self.jobs if job.state not in ENDED and (job.state is not State.PAUSED or job.for_room)
        )

    @property
    def done_bytes(self) -> int:
        """What is here of the jobs on the way."""
        return sum(job.done_bytes for job in self.open)

    @property
    def total_bytes(self) -> int:
        """What the jobs on the way have together."""
        return sum(job.total_bytes for job in self.open)

    @property
    def bytes_s(self) -> float | None:
        """The speed of all together."""
        speeds = [job.bytes_s for job in self.jobs if job.bytes_s is not None]
        return sum(speeds) if speeds else None

    @property
    def seconds_left(self) -> float | None:
        """How long all jobs on the way will take."""
        return seconds_left(self.total_bytes - self.done_bytes, self.bytes_s)


def seconds_left(missing_bytes: int, bytes_s: float | None) -> float | None:
    """How long `missing_bytes` take at a speed; None at no speed."""
    if missing_bytes <= 0:
        return 0.0
    return missing_bytes / bytes_s if bytes_s else None


def job_view(job: Job, active: Mapping[int, Active], have_bytes: Sequence[int], now: float) -> JobView:
    """How `job` stands: `active` by the index of its file, -1 for its listing, and what is here of each file."""
    files = tuple(_file_view(job, index, active.get(index), have) for index, have in enumerate(have_bytes))
    standings = [each.standing for each in active.values()]
    state = _state(job, standings)
    retrying = [each for each in standings if each.phase is Phase.RETRYING] if state is State.RETRYING else []
    retry_at = min((each.retry_at for each in retrying if each.retry_at is not None), default=None)
    told = None if state in (State.RUNNING, State.VERIFYING) else job.error
    error = next((each.error for each in retrying if each.error is not None), told)
    speeds = [each.bytes_s for each in active.values() if each.bytes_s is not None]
    return JobView(
        job.id,
        job.repo_id,
        job.revision,
        job.label,
        place_of(job),
        state,
        files,
        bytes_s=sum(speeds) if speeds else None,
        attempt=max((each.attempt for each in standings), default=1),
        retry_in_s=None if retry_at is None else max(0.0, retry_at - now),
        error=error,
        for_room=job.for_room,
    )


def _state(job: Job, standings: Sequence[Standing]) -> State:
    """Running as long as one file comes; retrying before verifying, for that is what needs an eye."""
    if job.state is not State.QUEUED:
        return job.state
    found = {_OF_PHASE[each.phase] for each in standings}
    order = (State.RUNNING, State.RETRYING, State.VERIFYING)
    return next((state for state in order if state in found), State.QUEUED)


def _file_view(job: Job, index: int, active: Active | None, have: int) -> FileView:
    each = job.files[index]
    size = each.file.size_bytes
    if each.done:
        return FileView(each.file.path, size, size, State.DONE)
    if active is None:
        waits = job.state in ACTIVE or job.state is State.DONE
        return FileView(each.file.path, size, min(have, size), State.QUEUED if waits else job.state)
    state = _OF_PHASE[active.standing.phase]
    checked = active.standing.checked_bytes
    return FileView(each.file.path, size, min(active.have_bytes, size), state, active.bytes_s, checked)


def place_of(job: Job) -> Path:
    """Its file, or the folder of its files, where programs find them."""
    files = [job.shelf.place(each.file) for each in job.files]
    return files[0] if len(files) == 1 else files[0].parent
