"""A file, or a listing, that is being fetched on a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from weighbridge.base.errors import Cancelled, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.hub.jobs import Job, JobFile
from weighbridge.hub.order import LISTING, Key
from weighbridge.hub.pace import Meter, Throttle
from weighbridge.hub.part import Origin
from weighbridge.hub.relist import Relisting
from weighbridge.hub.remote import Source
from weighbridge.hub.snapshot import Active
from weighbridge.hub.space import fault_of
from weighbridge.hub.transfer import Standing, Transfer

_log = logging.getLogger(__name__)


class Watched(Protocol):
    """What all work tells of itself while it runs."""

    standing: Standing

    @property
    def have_bytes(self) -> int:
        """What is here of it."""


@dataclass(frozen=True)
class Outcome:
    """How it ended: a file in its place, or the job as it is listed now; an error; or, with neither, a cancel."""

    file: JobFile | None = None
    job: Job | None = None
    error: WeighbridgeError | None = None


class Fetching(threading.Thread):
    """The work on `key` of `job`. `outcome` is None until it ends; `ended` is called then, from this thread."""

    def __init__(self, source: Source, job: Job, key: Key, throttle: Throttle, ended: Callable[[], None]) -> None:
        super().__init__(name=f"download-{key[0]}-{key[1]}", daemon=True)
        self.job = job
        self.key = key
        self.outcome: Outcome | None = None
        self._ended = ended
        self._task = Task()
        self._meter = Meter()
        self.target: Path | None = None
        self._run: Callable[[], Outcome]
        self._work: Watched
        if key[1] == LISTING:
            listing = Relisting(source, job, self._task)
            self._work, self._run = listing, lambda: Outcome(job=listing.run())
        else:
            each = job.files[key[1]]
            origin = Origin(job.repo_id, job.commit or "")
            self.target = target = job.shelf.target(each.file)
            transfer = Transfer(source, origin, each.file, target, throttle, self._task)
            self._work, self._run = transfer, lambda: self._brought(each, transfer)

    @property
    def have_bytes(self) -> int:
        """What is here of the file."""
        return self._work.have_bytes

    def stop(self) -> None:
        """End it at once; what came is kept."""
        self._task.cancel()

    def measure(self) -> None:
        """Look how far it is; to be called some times a second."""
        self._meter.tell(self._work.have_bytes)

    def active(self) -> Active:
        """How it stands now."""
        return Active(self._work.standing, self._work.have_bytes, self._meter.bytes_s)

    def run(self) -> None:
        """Work until it is done."""
        try:
            self.outcome = self._run()
        except Cancelled:
            self.outcome = Outcome()
        except WeighbridgeError as error:
            self.outcome = Outcome(error=error)
        except Exception as error:
            _log.exception("a download failed")
            self.outcome = Outcome(error=WeighbridgeError("internal", kind=type(error).__name__))
        self._ended()

    def _brought(self, each: JobFile, transfer: Transfer) -> Outcome:
        came = transfer.run()
        try:
            self.job.shelf.publish(each.file)
        except OSError as error:
            raise fault_of(error, self.job.shelf.place(each.file), 0) from error
        return Outcome(file=JobFile(each.file, done=True, brought=came or each.brought))
