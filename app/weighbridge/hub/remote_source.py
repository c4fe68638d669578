"""The bytes of a file on the Hub as a `ByteSource`: each range as it is asked for, and no byte twice."""

from __future__ import annotations

from typing import Protocol

from weighbridge.base.errors import Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.kept import Kept
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.verify import known_hash

HEADER = "header"
"""Why such requests are made, in the log of requests."""


class Parts(Protocol):
    """What gives a part of a file, as `client.Hub` does."""

    def part(
        self,
        repo_id: str,
        commit: str,
        path: str,
        start: int,
        length: int,
        purpose: str = HEADER,
        task: Task | None = None,
    ) -> bytes:
        """`length` bytes of a file from `start` on."""


class RemoteSource:
    """The start of one file, as much of it as was read. What `kept` has of it is not asked for again.

    A request fetches `least_bytes` at least. Raises what the Hub raises, Unreachable("hub.server") at an answer that is
    too short, and Cancelled.
    """

    def __init__(
        self, hub: Parts, kept: Kept, repository: Repository, file: RemoteFile, task: Task, least_bytes: int = 1
    ) -> None:
        self.size_bytes: int | None = file.size_bytes
        self._hub, self._kept, self._repository = hub, kept, repository
        self._file, self._task = file, task
        self._least_bytes = least_bytes
        self._hash = known_hash(file)
        self._held = bytearray((kept.head(self._hash) if self._hash else None) or b"")
        self._kept_bytes = len(self._held)

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on; fewer only at the end of the file."""
        end = min(offset + length, self._file.size_bytes)
        if end > len(self._held):
            self._fetch(max(end - len(self._held), self._least_bytes))
        return bytes(self._held[offset:end])

    def keep(self) -> None:
        """Have what was read kept. To be called once it has proved to be the start of such a file."""
        if self._hash is not None and len(self._held) > self._kept_bytes:
            self._kept.keep_head(self._hash, bytes(self._held))
            self._kept_bytes = len(self._held)

    def _fetch(self, length: int) -> None:
        self._task.check()
        start = len(self._held)
        wanted = min(length, self._file.size_bytes - start)
        repository = self._repository
        came = self._hub.part(repository.id, repository.commit, self._file.path, start, wanted, HEADER, self._task)
        if len(came) < wanted:
            raise Unreachable("hub.server", host=repository.id, reason=f"{len(came)} < {wanted}")
        self._held += came
