"""What is to be fetched, as immutable values: a job is one set of files, wanted together. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from weighbridge.base import errors
from weighbridge.base.errors import WeighbridgeError
from weighbridge.hub.layout import Layout, Shelf
from weighbridge.hub.remote import RemoteFile
from weighbridge.hub.wanted import Wanted


class State(StrEnum):
    """What a job, or a file of one, is at."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    VERIFYING = "verifying"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = frozenset({State.RUNNING, State.RETRYING, State.VERIFYING})
ENDED = frozenset({State.DONE, State.FAILED, State.CANCELLED})
"""States that only the user leads out of."""


@dataclass(frozen=True)
class JobFile:
    """A file of a job. `done`: whole, verified and in its place; `brought`: by this job, not found there."""

    file: RemoteFile
    done: bool = False
    brought: bool = False


@dataclass(frozen=True)
class Job:
    """A set of files of one repository at `commit`; None: to be listed anew, at what `revision` is then.

    `for_room`: it is paused until there is room on the disk, and goes on by itself.
    """

    repo_id: str
    revision: str
    commit: str | None
    label: str
    root: Path
    layout: Layout
    files: tuple[JobFile, ...]
    state: State = State.QUEUED
    error: WeighbridgeError | None = None
    for_room: bool = False
    added: float = 0.0
    id: int = 0

    @property
    def shelf(self) -> Shelf:
        """Where its files lie."""
        return Shelf(self.root, self.layout, self.revision, self.commit or "")

    @property
    def size_bytes(self) -> int:
        """The sum of its files."""
        return sum(each.file.size_bytes for each in self.files)

    @property
    def is_whole(self) -> bool:
        """Whether all its files are in their places."""
        return all(each.done for each in self.files)

    def with_file(self, index: int, **changes: Any) -> Job:
        """The job with something else known of one file."""
        files = list(self.files)
        files[index] = replace(files[index], **changes)
        return replace(self, files=tuple(files))

    def queued(self) -> Job:
        """The job, waiting for its turn."""
        return replace(self, state=State.QUEUED, error=None, for_room=False)

    def is_same_as(self, other: Job) -> bool:
        """Whether both are for the same files in the same place, whatever their content."""
        return (self.root, self.layout, _paths(self)) == (other.root, other.layout, _paths(other))


def job_of(wanted: Wanted, shelf: Shelf) -> Job:
    """The job that fetches what is `wanted` to `shelf`."""
    repository = wanted.repository
    files = tuple(JobFile(file) for file in wanted.files)
    return Job(repository.id, repository.revision, repository.commit, wanted.label, shelf.root, shelf.layout, files)


def _paths(job: Job) -> frozenset[str]:
    return frozenset(each.file.path for each in job.files)


def files_as_json(files: tuple[JobFile, ...]) -> str:
    """The files of a job, to be kept."""
    return json.dumps([asdict(each) for each in files])


def files_of_json(kept: str) -> tuple[JobFile, ...]:
    """What `files_as_json` made."""
    return tuple(
        JobFile(RemoteFile(**each["file"]), bool(each["done"]), bool(each["brought"])) for each in json.loads(kept)
    )


_KINDS: Mapping[str, type[WeighbridgeError]] = {
    kind.__name__: kind
    for kind in (errors.BadFile, errors.NotFound, errors.Refused, errors.Unreachable, WeighbridgeError)
}


def error_as_json(error: WeighbridgeError | None) -> str | None:
    """An error, to be kept."""
    if error is None:
        return None
    kept = {"kind": type(error).__name__, "code": error.code, "values": error.values}
    return json.dumps(kept, default=str)


def error_of_json(kept: str | None) -> WeighbridgeError | None:
    """What `error_as_json` made."""
    if kept is None:
        return None
    told = json.loads(kept)
    return _KINDS.get(told["kind"], WeighbridgeError)(told["code"], **told["values"])
