"""Reading into one repository at one commit: its small files, and how its large ones begin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Protocol

from weighbridge.base.errors import BadFile, Refused, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import ModelInfo, model_info
from weighbridge.hub.kept import Kept
from weighbridge.hub.peek import Small, remote_reader
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.remote_source import HEADER, Parts, RemoteSource
from weighbridge.hub.verify import known_hash

MOST_ASKED = 100
"""Requests for bytes of files at one look; where a repository has more to look into, the rest tells nothing."""


class Files(Small, Parts, Protocol):
    """What gives files, whole or in part, as `client.Hub` does."""


class Reading:
    """Looks into the files of `repository`. `unread` is the first fault of the Hub at that, a refusal for example:
    after it nothing more is asked, and what is not kept tells nothing.
    """

    def __init__(
        self, hub: Files, kept: Kept, repository: Repository, task: Task, most_asked: int = MOST_ASKED
    ) -> None:
        self.repository = repository
        self.unread: WeighbridgeError | None = None
        self._hub, self._kept, self._task = hub, kept, task
        self._files = repository.by_path
        self._left, self._most_asked = most_asked, most_asked
        self._json = remote_reader(self, repository).json

    def file(self, path: str) -> RemoteFile | None:
        """The file at `path`."""
        return self._files.get(path)

    def json(self, path: str) -> Mapping[str, Any] | None:
        """The object in a JSON file; an empty one where the Hub does not give it. Raises BadFile, and Cancelled."""
        try:
            return self._json(path)
        except BadFile:
            raise
        except WeighbridgeError as fault:
            self.unread = self.unread or fault
        return {}

    def begins(self, path: str) -> ModelInfo | BadFile | None:
        """What the start of a GGUF file says, or why it cannot be read; None where the Hub does not give it."""
        source = self.source(self._files[path])
        try:
            info = model_info(read_header(source), PurePosixPath(path).stem)
        except BadFile as damage:
            return damage
        except WeighbridgeError as fault:
            self.unread = self.unread or fault
            return None
        source.keep()
        return info

    def source(self, file: RemoteFile, least_bytes: int = 1) -> RemoteSource:
        """The bytes of a file."""
        return RemoteSource(self, self._kept, self.repository, file, self._task, least_bytes)

    def small(self, repo_id: str, commit: str, path: str, most_bytes: int, purpose: str = "file") -> bytes:
        """A small file whole: kept, or fetched and kept. Raises what the Hub raises."""
        file = self._files[path]
        digest = known_hash(file)
        kept = self._kept.head(digest, most_bytes) if digest and most_bytes else None
        if kept is not None:
            return kept[:most_bytes]
        self._count()
        content = self._hub.small(repo_id, commit, path, most_bytes, purpose)
        if digest is not None and len(content) == file.size_bytes > 0:
            self._kept.keep_head(digest, content)
        return content

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
        """A part of a file, fetched. Raises what the Hub raises."""
        self._count()
        return self._hub.part(repo_id, commit, path, start, length, purpose, task)

    def _count(self) -> None:
        """Before something is asked for."""
        self._task.check()
        if self.unread is not None:
            raise self.unread
        if self._left == 0:
            raise Refused("hub.too_many_files", repo_id=self.repository.id, limit=self._most_asked)
        self._left -= 1
