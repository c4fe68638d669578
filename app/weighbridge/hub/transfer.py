"""One file from the Hub to its place: attempt after attempt, until it is here, the user stops it, or it cannot be.

Each attempt asks for a fresh address, for those are signed and expire, and goes on at the last byte. Only what cannot
become better by waiting ends it: a refusal, a disk that cannot be written, bytes that were wrong twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from weighbridge.base.errors import BadFile, Refused, Unreachable, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.hub.abandon import abandonable
from weighbridge.hub.pace import Throttle, wait_s
from weighbridge.hub.part import Origin, Part
from weighbridge.hub.remote import Bytes, Located, RemoteFile, Source
from weighbridge.hub.verify import known_hash

_GONE = frozenset({"hub.no_file", "hub.no_revision"})
"""What a commit that was listed before answers once its history was rewritten."""

_TRIES = 2
"""How often all bytes are fetched before wrong ones count as the file's own fault."""


class Phase(StrEnum):
    """What a transfer is at."""

    CONNECTING = "connecting"
    RECEIVING = "receiving"
    RETRYING = "retrying"
    VERIFYING = "verifying"


@dataclass(frozen=True)
class Standing:
    """How a transfer stands. `attempt` counts those in a row that brought nothing, from 1; `retry_at` is the time of
    the next one, of the monotonic clock, and `error` what ended the last. `checked_bytes` are those read again.
    """

    phase: Phase = Phase.CONNECTING
    attempt: int = 1
    retry_at: float | None = None
    error: WeighbridgeError | None = None
    checked_bytes: int = 0


class Transfer:
    """The fetching of one file. `run` does it, on the thread that calls it; everything else may be asked from any."""

    def __init__(
        self,
        source: Source,
        origin: Origin,
        file: RemoteFile,
        target: Path,
        throttle: Throttle,
        task: Task,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.file = file
        self.standing = Standing()
        self._source, self._origin, self._target = source, origin, target
        self._throttle, self._task, self._clock = throttle, task, clock
        self._part: Part | None = None

    @property
    def have_bytes(self) -> int:
        """How much of it is on the disk."""
        return self._part.have_bytes if self._part is not None else 0

    def run(self) -> bool:
        """Bring the file to its place. Whether it came now; False where it was there already.

        Raises Cancelled, with what came kept; Refused, "disk.full" among them, with what came kept, or
        Refused("hub.changed") where the Hub has another file now; BadFile("hub.corrupt") where the bytes were wrong
        twice, and BadFile("file.unwritable").
        """
        with Part(self._target, self.file, self._origin) as part:
            self._part = part
            if part.is_here(self._checked):
                part.discard()
                part.have_bytes = self.file.size_bytes
                return False
            for _ in range(_TRIES):
                self._receive(part)
                if part.is_right(self._checked):
                    part.finish()
                    return True
                part.restart()
            part.discard()
        raise BadFile("hub.corrupt", name=self.file.path)

    def _checked(self, done_bytes: int) -> None:
        self.standing = Standing(Phase.VERIFYING, checked_bytes=done_bytes)
        self._task.check()

    def _receive(self, part: Part) -> None:
        attempt = 1
        while part.missing_bytes:
            self.standing = replace(self.standing, phase=Phase.CONNECTING, attempt=attempt, retry_at=None)
            before = part.have_bytes
            try:
                self._attempt(part)
            except Unreachable as error:
                self._task.check()
                attempt = 1 if part.have_bytes > before else attempt
                if part.missing_bytes:
                    self._wait(error, attempt)
                attempt += 1

    def _wait(self, error: Unreachable, attempt: int) -> None:
        seconds = wait_s(attempt, error)
        self.standing = Standing(Phase.RETRYING, attempt, self._clock() + seconds, error)
        self._task.wait(seconds)

    def _attempt(self, part: Part) -> None:
        """What one connection brings. Raises Unreachable where that was not all."""
        with self._opened(part.have_bytes) as (located, opened):
            if opened.start not in (0, part.have_bytes):
                raise Unreachable("hub.server", host=_host(located), reason=f"Content-Range: {opened.start}")
            if opened.start < part.have_bytes:
                part.restart()
            self.standing = Standing(Phase.RECEIVING)
            for piece in opened.pieces():
                self._task.check()
                if not part.missing_bytes:
                    return
                self._throttle.take(len(piece), self._task)
                part.write(piece)
        if part.missing_bytes:
            raise Unreachable("hub.cut_short", host=_host(located), name=self.file.path)

    @contextmanager
    def _opened(self, start: int) -> Iterator[tuple[Located, Bytes]]:
        """The bytes from `start` on, at a fresh address; hung up by a cancel, at whatever moment it comes."""

        def act() -> tuple[Located, AbstractContextManager[Bytes], Bytes]:
            located = self._located()
            opening = self._source.open(located, start, self.file.path)
            return located, opening, opening.__enter__()

        located, opening, opened = abandonable(act, lambda made: _end(made[1]), self._task)
        try:
            self._task.on_cancel(opened.hang_up)
            yield located, opened
        finally:
            self._task.on_cancel(None)
            _end(opening)

    def _located(self) -> Located:
        """Raises Refused("hub.changed") where the file is not the one that was listed."""
        try:
            located = self._source.locate(self._origin.repo_id, self._origin.commit, self.file.path)
        except Refused as error:
            if error.code in _GONE:
                raise Refused("hub.changed", repo_id=self._origin.repo_id, name=self.file.path) from error
            raise
        promised = known_hash(self.file)
        if located.size_bytes != self.file.size_bytes or (promised is not None and located.etag != promised):
            raise Refused("hub.changed", repo_id=self._origin.repo_id, name=self.file.path)
        return located


def _end(opening: AbstractContextManager[Bytes]) -> None:
    opening.__exit__(None, None, None)


def _host(located: Located) -> str:
    return urlsplit(located.url).hostname or ""
