"""The downloads as the window drives them: how they stand, and what the user wants done, off the GUI thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from weighbridge.base.task import Task
from weighbridge.hub.jobs import ACTIVE, Job, State
from weighbridge.hub.snapshot import JobView, Snapshot
from weighbridge.ui.background import Background
from weighbridge.ui.pulse import Pulse


class Jobs(Protocol):
    """What is needed of `hub.queue.Queue`."""

    def add(self, job: Job) -> int: ...

    def pause(self, job_id: int) -> None: ...

    def resume(self, job_id: int) -> None: ...

    def retry(self, job_id: int) -> None: ...

    def cancel(self, job_id: int) -> None: ...

    def forget(self, job_id: int) -> None: ...

    def move(self, job_id: int, index: int) -> None: ...

    def snapshot(self) -> Snapshot: ...

    def subscribe(self, listener: Callable[[Snapshot], None]) -> Callable[[], None]: ...


class Downloads(QObject):
    """The queue, for the window. Commands are done in the order in which they are given, in another thread, for the
    queue may be at the disk.
    """

    changed = Signal()
    """`snapshot` is another one. At most five times a second."""
    done = Signal(object)
    """This job (JobView) has just come to its end: all its files are here."""
    failed = Signal(object)
    """A command could not be done, and why."""
    added = Signal(int)
    """A job of this id was put into the queue."""

    def __init__(self, jobs: Jobs, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._background = background
        self._waiting: deque[Callable[[], object]] = deque()
        self._working = False
        self._snapshot = self._told = jobs.snapshot()
        self._pulse = Pulse(self)
        self._pulse.beat.connect(self._show)
        self._leave = jobs.subscribe(self.show)

    @property
    def snapshot(self) -> Snapshot:
        """How all downloads stand."""
        return self._snapshot

    @property
    def busy(self) -> bool:
        """Whether something is being fetched, or would be in a moment."""
        return any(job.state in ACTIVE or job.state is State.QUEUED for job in self._snapshot.jobs)

    @property
    def can_clear(self) -> bool:
        """Whether something has ended well or was cancelled."""
        return bool(self._clearable)

    def add(self, job: Job) -> None:
        """Put a job into the queue."""

        def act() -> None:
            self.added.emit(self._jobs.add(job))

        self._do(act)

    def pause(self, job: JobView) -> None:
        """Stop fetching, at once; what came is kept."""
        self._do(lambda: self._jobs.pause(job.id))

    def resume(self, job: JobView) -> None:
        """Let a paused job go on."""
        self._do(lambda: self._jobs.resume(job.id))

    def retry(self, job: JobView) -> None:
        """Try again now."""
        self._do(lambda: self._jobs.retry(job.id))

    def cancel(self, job: JobView) -> None:
        """End it, and remove what it has brought."""
        self._do(lambda: self._jobs.cancel(job.id))

    def forget(self, job: JobView) -> None:
        """Take a job that has ended from the list."""
        self._do(lambda: self._jobs.forget(job.id))

    def move(self, job: JobView, by: int) -> None:
        """Move a job by so many places, up where that is negative."""
        ids = [each.id for each in self._snapshot.jobs]
        if job.id in ids:
            place = max(0, min(len(ids) - 1, ids.index(job.id) + by))
            self._do(lambda: self._jobs.move(job.id, place))

    def pause_all(self) -> None:
        """Pause all that is on the way."""
        for job in self._snapshot.open:
            self.pause(job)

    def resume_all(self) -> None:
        """Let all that is paused go on."""
        for job in self._snapshot.jobs:
            if job.state is State.PAUSED:
                self.resume(job)

    def take_up(self) -> None:
        """Online again: let go on what an answer to one who is offline has paused."""
        for job in self._snapshot.jobs:
            if job.state is State.PAUSED and job.error is not None and job.error.code == "hub.offline":
                self.resume(job)

    def forget_ended(self) -> None:
        """Take all that has ended well or was cancelled from the list."""
        for job in self._clearable:
            self.forget(job)

    def close(self) -> None:
        """Hear no more of the queue. The queue itself is closed by its owner."""
        self._leave()
        self._pulse.stop()

    @property
    def _clearable(self) -> list[JobView]:
        return [job for job in self._snapshot.jobs if job.state in (State.DONE, State.CANCELLED)]

    def show(self, snapshot: Snapshot) -> None:
        """This is how all stands now. From any thread; the queue calls it."""
        self._told = snapshot
        self._pulse.poke()

    def _show(self) -> None:
        before, self._snapshot = self._snapshot, self._told
        self.changed.emit()
        known = {job.id for job in before.jobs if job.state is State.DONE}
        for job in self._snapshot.jobs:
            if job.state is State.DONE and job.id not in known:
                self.done.emit(job)

    def _do(self, act: Callable[[], object]) -> None:
        self._waiting.append(act)
        if not self._working:
            self._next()

    def _next(self) -> None:
        self._working = bool(self._waiting)
        if self._working:
            act = self._waiting.popleft()
            self._background.run(lambda task: _acted(act, task), self._acted, self._refused)

    def _acted(self, _: object) -> None:
        self._next()

    def _refused(self, error: BaseException) -> None:
        self.failed.emit(error)
        self._next()


def _acted(act: Callable[[], object], task: Task) -> None:
    del task  # a command is short, and is not left half done
    act()
