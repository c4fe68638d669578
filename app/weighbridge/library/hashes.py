"""The sha256 of models' files: what is known without reading them, and what was counted here.

A file's hash is told by the download that brought it, or by its own name, as stores name their blobs. What was counted
holds as long as the file has the same size and time of change.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from weighbridge.base.database import Database
from weighbridge.base.errors import BadFile
from weighbridge.hub.promises import Promises
from weighbridge.hub.verify import BLOCK_BYTES
from weighbridge.library.model import Key, Model, key_of

MOST = 20_000

Step = Callable[[int], None]
"""Called with the bytes read so far; raises to end the work."""


class Told(StrEnum):
    """Where a hash is from."""

    DOWNLOAD = "download"
    NAME = "name"
    COUNTED = "counted"


@dataclass(frozen=True)
class Known:
    """A hash, and where it is from."""

    sha256: str
    told: Told


class Hashes:
    """All hashes, in `database`. From any thread; what the database raises is BadFile("database.failed")."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._promises = Promises(database)

    def promise(self, path: Path, sha256: str) -> None:
        """Keep that the file at `path`, as it is now, was found to have this hash as it came. Raises OSError."""
        self._promises.keep(path, sha256)

    def promised(self, model: Model) -> tuple[Known | None, ...]:
        """What each part must be, whatever it is now: as its download knew, or as its name says."""
        return tuple(self._promised(part, name) for part, name in zip(model.parts, named_hashes(model), strict=True))

    def known(self, path: Path, named: str | None = None) -> Known | None:
        """What the file at `path` is, without reading it; `named`: the hash that its name tells.

        None also for a file that is gone.
        """
        try:
            status = path.stat()
        except OSError:
            return None
        counted = self._counted(path, status)
        if counted is not None:
            return Known(counted, Told.COUNTED)
        promise = self._promises.of(path)
        if promise is not None and promise.is_of(status):
            return Known(promise.sha256, Told.DOWNLOAD)
        return None if named is None else Known(named, Told.NAME)

    def count(self, path: Path, step: Step, expected: str | None = None) -> str:
        """Read the file at `path` and keep its hash, beside the one that is `expected`, or was for the file as it is.

        Raises BadFile("file.unreadable"), BadFile("file.changed") where it changes meanwhile, and what `step` raises.
        """
        try:
            before = path.stat()
            found = _sha256(path, step)
            if _state(path.stat()) != _state(before):
                raise BadFile("file.changed", name=path.name)
        except OSError as error:
            raise BadFile("file.unreadable", name=path.name, reason=error.strerror or str(error)) from error
        self._keep(path, before, found, expected)
        return found

    def faults(self, models: Iterable[Model]) -> dict[Key, BadFile]:
        """The models, among these, of which a part was found to be other than it must be, and is still the same."""
        rows = self._database.rows("SELECT * FROM counted_hashes WHERE expected IS NOT NULL AND expected <> sha256")
        wrong = {os.fsdecode(row["path"]): row for row in rows if _is_still(row["path"], row)}
        if not wrong:
            return {}
        found: dict[Key, BadFile] = {}
        for model in models:
            for part in model.parts:
                row = wrong.get(os.path.realpath(part))
                if row is not None:
                    found[key_of(model)] = corrupt(part, row["expected"], row["sha256"])
        return found

    def _promised(self, part: Path, named: str | None) -> Known | None:
        promise = self._promises.of(part)
        if promise is not None:
            return Known(promise.sha256, Told.DOWNLOAD)
        return None if named is None else Known(named, Told.NAME)

    def _counted(self, path: Path, status: os.stat_result) -> str | None:
        named = os.fsencode(os.path.realpath(path))
        for row in self._database.rows("SELECT * FROM counted_hashes WHERE path = ?", (named,)):
            if _state(status) == (row["size_bytes"], row["modified_ns"]):
                return str(row["sha256"])
        return None

    def _keep(self, path: Path, status: os.stat_result, sha256: str, expected: str | None) -> None:
        values = (os.fsencode(os.path.realpath(path)), *_state(status), sha256, expected)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO counted_hashes AS kept (path, size_bytes, modified_ns, sha256, expected)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET expected = ifnull(excluded.expected,"
                " CASE WHEN (kept.size_bytes, kept.modified_ns) = (excluded.size_bytes, excluded.modified_ns)"
                " THEN kept.expected END), size_bytes = excluded.size_bytes, modified_ns = excluded.modified_ns,"
                " sha256 = excluded.sha256",
                values,
            )
            connection.execute(
                "DELETE FROM counted_hashes WHERE id <="
                " (SELECT id FROM counted_hashes ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (MOST,),
            )


def named_hashes(model: Model) -> tuple[str | None, ...]:
    """For each part, the hash that its name tells."""
    told = model.sha256s
    return told if len(told) == len(model.parts) else (None,) * len(model.parts)


def corrupt(part: Path, expected: str, found: str) -> BadFile:
    """That a file is not what it must be."""
    return BadFile("model.corrupt", name=part.name, expected=expected, found=found)


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _is_still(path: bytes, row: sqlite3.Row) -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116 - bytes, as they are kept
    except OSError:
        return False
    return _state(status) == (row["size_bytes"], row["modified_ns"])


def _sha256(path: Path, step: Step) -> str:
    digest, done = hashlib.sha256(), 0
    block = memoryview(bytearray(BLOCK_BYTES))
    with path.open("rb", buffering=0) as opened:
        while count := opened.readinto(block):
            digest.update(block[:count])
            done += count
            step(done)
    return digest.hexdigest()
