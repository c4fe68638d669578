"""The queue of downloads: one owner of all jobs, over all processes that use the data folder.

Whoever holds the lock fetches; the others add jobs to the database, where the owner finds them, and read there how they
stand. When the owner ends, however it ends, another one takes over: what was running is queued again, what was paused
stays so, and each file goes on at its last byte.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.errors import Refused, WeighbridgeError
from weighbridge.base.locks import FileLock
from weighbridge.hub.fetching import Fetching, Outcome
from weighbridge.hub.job_list import JobList
from weighbridge.hub.job_store import JobStore
from weighbridge.hub.jobs import ACTIVE, ENDED, Job, JobFile, State
from weighbridge.hub.layout import Shelf
from weighbridge.hub.order import Key, next_files
from weighbridge.hub.pace import Throttle
from weighbridge.hub.part import remains_of
from weighbridge.hub.remote import Source
from weighbridge.hub.snapshot import Snapshot, job_view
from weighbridge.hub.space import Claim, disk_full, shortages, volume_of

LOCK = "downloads.lock"
TOLD_S = 0.2
"""Listeners are called no more often."""

IDLE_S, SHARED_S, ROOM_S = 1.0, 1.0, 2.0
HOLD_S = 20.0
"""How long a job rests after the disk was full in spite of its figures."""

BUSY_S = 2.0
_ENDING_S = 3.0
_WAITING = frozenset({"hub.offline"})
"""Refusals that leave a job paused, not failed: the user has only to change his mind."""

_log = logging.getLogger(__name__)

Listener = Callable[[Snapshot], None]


@dataclass(frozen=True)
class Limits:
    """How many files are fetched side by side, and how many bytes a second all may take together; None: any.

    `offline`: nothing is fetched, and what is being fetched stops and waits.
    """

    at_once: int = 2
    bytes_s: float | None = None
    offline: bool = False


class Queue:
    """All downloads, from any thread, until `close`.

    `takes` tells which jobs this process fetches while it is the owner. Commands raise NotFound("hub.no_job") for a job
    that is not here, and, but for `add`, Refused("hub.other_owner") where another process fetches.
    """

    def __init__(
        self,
        source: Source,
        store: JobStore,
        data: Path,
        limits: Callable[[], Limits] = Limits,
        takes: Callable[[Job], bool] = lambda job: True,
    ) -> None:
        self._source, self._store, self._limits, self._takes = source, store, limits, takes
        self._throttle = Throttle(lambda: limits().bytes_s)
        self._file_lock = FileLock(data / LOCK)
        self._lock = threading.RLock()
        self._woken = threading.Event()
        self._closed = False
        self._owner = False
        self._jobs = JobList(store)
        self._active: dict[Key, Fetching] = {}
        self._rest_until: dict[int, float] = {}
        self._to_clear: set[int] = set()
        self._to_forget: set[int] = set()
        self._listeners: tuple[Listener, ...] = ()
        self._told = Snapshot()
        self._told_at = self._shared_at = 0.0
        self._room_at = -math.inf  # when there was last a look at the room, which comes before anything is begun
        data.mkdir(parents=True, exist_ok=True)
        with self._lock:
            self._turn()
        self._thread = threading.Thread(target=self._loop, name="downloads", daemon=True)
        self._thread.start()

    def add(self, job: Job) -> int:
        """Put `job` behind all others; it takes the place of an older one for the same files. Returns its id.

        Raises BadFile("database.failed").
        """
        with self._lock:
            added = self._store.add(job)
            if self._owner:
                self._admit(added)
        self._woken.set()
        return added.id

    def pause(self, job_id: int) -> None:
        """Stop fetching a job, at once; what came is kept."""
        with self._commanded(job_id) as job:
            if job.state not in ENDED:
                self._stop(job_id)
                self._jobs.put(replace(job, state=State.PAUSED, error=None, for_room=False))

    def resume(self, job_id: int) -> None:
        """Let a paused job wait for its turn."""
        with self._commanded(job_id) as job:
            if job.state is State.PAUSED:
                self._queue(job)

    def retry(self, job_id: int) -> None:
        """Try again: a job that failed or was cancelled, or one that waits for its next attempt."""
        with self._commanded(job_id) as job:
            if job.state is not State.DONE:
                self._stop(job_id)
                changed = job.error is not None and job.error.code == "hub.changed"
                self._queue(replace(job, commit=None) if changed else job)

    def cancel(self, job_id: int) -> None:
        """End a job, and remove what it has brought. A job that is done stays as it is."""
        with self._commanded(job_id) as job:
            if job.state not in (State.DONE, State.CANCELLED):
                self._stop(job_id)
                self._jobs.put(replace(job, state=State.CANCELLED, error=None, for_room=False))
                self._to_clear.add(job_id)

    def forget(self, job_id: int) -> None:
        """Take a job that has ended from the list; of one that is not done, what it has brought is removed."""
        with self._commanded(job_id) as job:
            if job.state in ENDED:
                self._to_forget.add(job_id)
                self._to_clear |= {job_id} if job.state is not State.DONE else set()

    def move(self, job_id: int, index: int) -> None:
        """Put a job at place `index` of the list, from 0."""
        with self._commanded(job_id) as job:
            self._jobs.move(job, index)

    def snapshot(self) -> Snapshot:
        """How everything stands now."""
        now = time.monotonic()
        with self._lock:
            views = []
            for job in self._jobs:
                active = {key[1]: each.active() for key, each in self._active.items() if key[0] == job.id}
                have = [self._jobs.have_bytes(job, index) for index in range(len(job.files))]
                views.append(job_view(job, active, have, now))
            return Snapshot(tuple(views), self._owner)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called when something has changed, from the queue's thread, some five times a second at most.

        Returns what ends that.
        """
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(known for known in self._listeners if known is not listener)

        return unsubscribe

    def close(self) -> None:
        """Stop all work and let another process be the owner. What was running goes on at the next start.

        Not from a listener.
        """
        with self._lock:
            self._closed = True
            for each in self._active.values():
                each.stop()
        self._woken.set()
        until = time.monotonic() + _ENDING_S
        for thread in (self._thread, *self._active.values()):
            thread.join(max(0.0, until - time.monotonic()))
        with self._lock:
            self._settle()
            for job in self._jobs if self._owner else ():
                self._jobs.show(job)
            self._owner = False
            with suppress(OSError):
                self._file_lock.release()

    def _loop(self) -> None:
        while not self._closed:
            busy = bool(self._active) or self._told != self.snapshot()
            self._woken.wait(TOLD_S if busy else IDLE_S)
            self._woken.clear()
            with self._lock:
                if self._closed:
                    return
                self._turn()
                clearing = self._clearing()
            for job in clearing:
                self._clear(job)
            self._tell()

    def _turn(self) -> None:
        """One look at everything. A database that fails now is asked again at the next."""
        with suppress(WeighbridgeError):
            if not self._owner:
                self._take_over()
            else:
                for job in self._jobs.added():
                    self._admit(job)
        if not self._owner:
            return
        self._settle()
        self._look_for_room()
        if self._limits().offline:
            for each in self._active.values():
                each.stop()
        else:
            self._begin()

    def _take_over(self) -> None:
        taken = False
        with suppress(OSError):
            taken = self._file_lock.take()
        try:
            self._jobs.read(own=taken)
        except WeighbridgeError:
            self._file_lock.release()
            raise
        self._owner = taken
        self._room_at = -math.inf
        if self._owner:
            self._to_clear = {job.id for job in self._jobs if job.state is State.CANCELLED}

    def _admit(self, job: Job) -> None:
        older = self._jobs.older(job)
        if older is not None:
            self._stop(older.id)
            self._to_clear.discard(older.id)
        self._jobs.admit(job)
        self._room_at = -math.inf

    def _settle(self) -> None:
        """Draw the consequences of what has ended."""
        for key, each in tuple(self._active.items()):
            if each.outcome is None:
                continue
            del self._active[key]
            self._jobs.changed(*key)
            job = self._jobs.find(key[0])
            if job is not None and each.job.commit == job.commit:
                self._conclude(job, key[1], each.outcome)

    def _conclude(self, job: Job, index: int, outcome: Outcome) -> None:
        """A file that is here counts whatever the user wants of its job by now; nothing else does."""
        if outcome.file is not None:
            made = job.with_file(index, done=True, brought=outcome.file.brought)
            with suppress(OSError, WeighbridgeError):  # it can be verified less well later on, and is here all the same
                self._store.keep_hash(job.shelf.target(outcome.file.file), outcome.file.file)
            ended = made.is_whole and made.state is not State.CANCELLED
            self._jobs.put(replace(made, state=State.DONE, error=None) if ended else made)
        elif outcome.job is not None and job.state is State.QUEUED:
            self._jobs.put(outcome.job.queued())
        elif outcome.error is not None and job.state is State.QUEUED:
            self._fail(job, outcome.error)

    def _fail(self, job: Job, error: WeighbridgeError) -> None:
        now = time.monotonic()
        if error.code == "download.busy":
            self._rest_until[job.id] = now + BUSY_S
            self._jobs.put(replace(job, error=error))
            return
        self._stop(job.id)
        if error.code == "disk.full":
            self._rest_until[job.id] = now + HOLD_S
            self._jobs.put(replace(job, state=State.PAUSED, error=error, for_room=True))
        else:
            state = State.PAUSED if error.code in _WAITING else State.FAILED
            self._jobs.put(replace(job, state=state, error=error))

    def _look_for_room(self) -> None:
        """Pause what does not fit, and let go on what does now."""
        now = time.monotonic()
        if now - self._room_at < ROOM_S:
            return
        self._room_at = now
        waiting = [job for job in self._jobs if self._takes(job) and (job.state is State.QUEUED or job.for_room)]
        short = self._short(waiting)
        for job in waiting:
            if job.id in short and not self._is_active(job.id):
                error = disk_full(job.root, *short[job.id])
                if job.error is None or job.error.values != error.values:
                    self._jobs.put(replace(job, state=State.PAUSED, error=error, for_room=True))
            elif job.for_room and job.id not in short and self._rest_until.get(job.id, 0.0) <= now:
                self._jobs.put(job.queued())

    def _short(self, waiting: Sequence[Job]) -> dict[int, tuple[int, int]]:
        """The jobs for which there is no room, with the bytes needed and free."""
        claims: list[Claim] = []
        free: dict[int, int | None] = {}
        for job in waiting:
            with suppress(OSError):
                volume = volume_of(job.root)
                free[volume.id] = volume.free_bytes
                claims.append(Claim(job.id, volume.id, self._missing_bytes(job)))
        return shortages(claims, free)

    def _begin(self) -> None:
        now = time.monotonic()
        ready = [job for job in self._jobs if self._takes(job) and self._rest_until.get(job.id, 0.0) <= now]
        writing = {each.target for each in self._active.values() if each.target is not None}
        for key in next_files(ready, self._active.keys(), writing, self._limits().at_once):
            self._active[key] = Fetching(self._source, self._jobs.get(key[0]), key, self._throttle, self._woken.set)
            self._active[key].start()

    def _clearing(self) -> list[Job]:
        """The jobs whose files are to be removed, now that nobody writes them; those that are to be forgotten are."""
        found = [job for job in self._jobs if job.id in self._to_clear and not self._is_active(job.id)]
        self._to_clear -= {job.id for job in found}
        for job_id in self._to_forget - self._to_clear:
            self._jobs.remove(job_id)
        self._to_forget &= self._to_clear
        return found

    def _clear(self, job: Job) -> None:
        """Remove what `job` has brought, unless another job needs it. Without the lock, for a large file takes time."""
        with self._lock:
            needed = self._jobs.needed_by_others(job)
        for each in job.files:
            if job.shelf.target(each.file) not in needed:
                _remove(job.shelf, each)
        with self._lock:
            for index in range(len(job.files)):
                self._jobs.changed(job.id, index)
            now = self._jobs.find(job.id)  # it may have been queued again
            if now is not None:
                self._jobs.put(replace(now, files=tuple(JobFile(each.file) for each in now.files)))

    def _tell(self) -> None:
        now = time.monotonic()
        for each in tuple(self._active.values()):
            each.measure()
        if now - self._told_at < TOLD_S:
            return
        snapshot = self.snapshot()
        if snapshot == self._told:
            return
        self._told, self._told_at = snapshot, now
        if snapshot.owner and now - self._shared_at >= SHARED_S:
            self._shared_at = now
            self._share(snapshot)
        for listener in self._listeners:
            try:
                listener(snapshot)
            except Exception:
                _log.exception("a listener failed")

    def _share(self, snapshot: Snapshot) -> None:
        """Write down how jobs that are being fetched stand, for other processes."""
        for view in snapshot.jobs:
            with self._lock:
                job = self._jobs.find(view.id)
                if job is not None and job.state is State.QUEUED and view.state in ACTIVE:
                    self._jobs.show(replace(job, state=view.state, error=view.error))

    @contextmanager
    def _commanded(self, job_id: int) -> Iterator[Job]:
        with self._lock:
            if not self._owner:
                raise Refused("hub.other_owner")
            yield self._jobs.get(job_id)
        self._woken.set()

    def _queue(self, job: Job) -> None:
        self._rest_until.pop(job.id, None)
        self._to_clear.discard(job.id)
        self._room_at = -math.inf
        self._jobs.put(job.queued())

    def _stop(self, job_id: int) -> None:
        for key, each in self._active.items():
            if key[0] == job_id:
                each.stop()

    def _is_active(self, job_id: int) -> bool:
        return any(key[0] == job_id for key in self._active)

    def _missing_bytes(self, job: Job) -> int:
        missing = 0
        for index, each in enumerate(job.files):
            active = self._active.get((job.id, index))
            have = active.have_bytes if active is not None else self._jobs.have_bytes(job, index)
            missing += 0 if each.done else max(0, each.file.size_bytes - have)
        return missing


def _remove(shelf: Shelf, each: JobFile) -> None:
    for path in remains_of(shelf.target(each.file)):
        with suppress(OSError):
            path.unlink()
    if each.brought:
        shelf.withdraw(each.file)
    shelf.tidy(each.file)
