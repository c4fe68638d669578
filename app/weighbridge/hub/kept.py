"""What the Hub has told and what cannot change, kept on disk: which files a commit has, and how a file begins.

A damaged entry, or a folder that cannot be written to, costs time and nothing else. The names of entries are hashes;
what one endpoint has told is never believed of another.
"""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weighbridge.base.kept_files import KeptFiles
from weighbridge.base.strict_json import read_strict
from weighbridge.hub.forms import COMMIT, SHA256, matching
from weighbridge.hub.remote import RemoteFile

VERSION = 1
"""Raised whenever what is kept, or what it means, changes: older entries are then missing."""

MOST_FILES, MOST_BYTES = 4_000, 256 << 20
MOST_ENTRY_BYTES = 32 << 20
"""Of one entry, before it is compressed; a longer one is not kept."""

ENDING = ".told"
_TIDY_AFTER = 200
_LEVEL = 3


class Kept:
    """What was told by the Hub at `endpoint()`, in `folder`, at most MOST_FILES entries of MOST_BYTES together.
    `folder` None: nothing is kept. From any thread; it reads and writes the disk.
    """

    def __init__(self, folder: Path | None, endpoint: Callable[[], str] = lambda: "") -> None:
        self._files = KeptFiles(folder, ENDING, MOST_FILES, MOST_BYTES)
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._until_tidy = 0

    def tree(self, repo_id: str, commit: str) -> tuple[RemoteFile, ...] | None:
        """All files that a repository has at `commit`; None where that is not kept."""
        key = self._key("tree", repo_id, commit)
        content = self._load(key)
        if content is None:
            return None
        try:
            return tuple(_file(row) for row in read_strict(content))
        except (ValueError, TypeError, KeyError, RecursionError):
            self._files.drop(key)
            return None

    def keep_tree(self, repo_id: str, commit: str, files: tuple[RemoteFile, ...]) -> None:
        """Keep all files that a repository has at `commit`."""
        rows = [[file.path, file.size_bytes, file.sha256, file.git_sha1, file.xet_hash] for file in files]
        self._store(self._key("tree", repo_id, commit), json.dumps(rows).encode())

    def head(self, hash: str, least_bytes: int = 1) -> bytes | None:
        """How the file begins whose content has `hash`, sha256 or git's: as many bytes as are kept. None where these
        are fewer than `least_bytes`.
        """
        content = self._load(self._key("head", hash))
        return content if content is not None and len(content) >= least_bytes else None

    def keep_head(self, hash: str, content: bytes) -> None:
        """Keep how a file begins, unless more of it is kept."""
        if self.head(hash, len(content)) is None:
            self._store(self._key("head", hash), content)

    def _key(self, *what: str) -> str:
        return hashlib.sha256("\n".join((str(VERSION), self._endpoint(), *what)).encode()).hexdigest()

    def _load(self, key: str) -> bytes | None:
        packed = self._files.load(key, MOST_ENTRY_BYTES)
        if packed is None:
            return None
        unpacker = zlib.decompressobj()
        try:
            content = unpacker.decompress(packed, MOST_ENTRY_BYTES)
        except zlib.error:
            content = b""
        if not unpacker.eof:
            self._files.drop(key)
            return None
        return content

    def _store(self, key: str, content: bytes) -> None:
        if len(content) > MOST_ENTRY_BYTES:
            return
        self._files.store(key, zlib.compress(content, _LEVEL))
        with self._lock:
            due = self._until_tidy == 0
            self._until_tidy = _TIDY_AFTER if due else self._until_tidy - 1
        if due:
            self._files.tidy()


def _file(row: Any) -> RemoteFile:
    """A file of a kept tree, looked at as if a stranger had written it. Raises ValueError."""
    path, size_bytes, sha256, git_sha1, xet_hash = row
    if not isinstance(path, str) or type(size_bytes) is not int or size_bytes < 0:
        raise ValueError("path, size")
    hashes = [
        None if value is None else matching(form, value)
        for form, value in ((SHA256, sha256), (COMMIT, git_sha1), (SHA256, xet_hash))
    ]
    return RemoteFile(path, size_bytes, *hashes)
