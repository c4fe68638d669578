"""Which hash a downloaded file must have, kept beyond the download's own entry: for verifying it later on.

A promise stands for the file itself, by its real path, and for what it was as it came: its size and time of change.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.database import Database

MOST = 20_000


@dataclass(frozen=True)
class Promise:
    """The `sha256` that was promised for a file, which had this size and time of change when it was found right."""

    sha256: str
    size_bytes: int
    modified_ns: int

    def is_of(self, status: os.stat_result) -> bool:
        """Whether the file is as it was then, as far as can be told without reading it."""
        return (status.st_size, status.st_mtime_ns) == (self.size_bytes, self.modified_ns)


class Promises:
    """The newest promises, in `database`. From any thread; what the database raises is BadFile("database.failed")."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, path: Path, sha256: str) -> None:
        """Keep that the file at `path`, as it is now, was found to have this hash. Raises OSError."""
        real = os.path.realpath(path)
        status = os.stat(real)  # noqa: PTH116 - realpath gives text
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO promised_hashes (path, size_bytes, modified_ns, sha256) VALUES (?, ?, ?, ?)",
                (os.fsencode(real), status.st_size, status.st_mtime_ns, sha256),
            )
            connection.execute(
                "DELETE FROM promised_hashes WHERE id <="
                " (SELECT id FROM promised_hashes ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (MOST,),
            )

    def of(self, path: Path) -> Promise | None:
        """What was promised for the file at `path`, whatever is there now."""
        rows = self._database.rows(
            "SELECT * FROM promised_hashes WHERE path = ?", (os.fsencode(os.path.realpath(path)),)
        )
        return Promise(rows[0]["sha256"], rows[0]["size_bytes"], rows[0]["modified_ns"]) if rows else None
