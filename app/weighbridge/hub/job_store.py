"""The jobs in the database: what is left of the queue after any end of the program."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weighbridge.base.database import Database
from weighbridge.formats.safe_names import is_safe
from weighbridge.hub.jobs import Job, State, error_as_json, error_of_json, files_as_json, files_of_json
from weighbridge.hub.layout import Layout
from weighbridge.hub.promises import Promises
from weighbridge.hub.remote import RemoteFile

_COLUMNS = ("repo_id", "revision", "commit_id", "label", "root", "layout", "files", "state", "error", "for_room")


class JobStore:
    """All jobs by their order. From any thread and process; what the database raises is BadFile("database.failed")."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._promises = Promises(database)

    def all(self) -> list[Job]:
        """Every job, the next to be fetched first. A row that cannot be read is passed over."""
        rows = self._database.rows("SELECT * FROM downloads ORDER BY place, id")
        return [job for job in map(_job, rows) if job is not None]

    def ids(self) -> set[int]:
        """The ids of all jobs."""
        return {int(row["id"]) for row in self._database.rows("SELECT id FROM downloads")}

    def add(self, job: Job) -> Job:
        """Put `job` behind all others. Returns it with its id."""
        job = replace(job, added=time.time())
        names = ", ".join((*_COLUMNS, "added", "place"))
        marks = ", ".join("?" for _ in (*_COLUMNS, "added"))
        with self._database.transaction() as connection:
            cursor = connection.execute(
                f"INSERT INTO downloads ({names}) VALUES ({marks}, (SELECT ifnull(max(place), 0) + 1 FROM downloads))",
                (*_values(job), job.added),
            )
        return replace(job, id=int(cursor.lastrowid or 0))

    def save(self, job: Job) -> None:
        """Keep `job` as it is now."""
        names = ", ".join(f"{name} = ?" for name in _COLUMNS)
        with self._database.transaction() as connection:
            connection.execute(f"UPDATE downloads SET {names} WHERE id = ?", (*_values(job), job.id))

    def keep_hash(self, path: Path, file: RemoteFile) -> None:
        """Keep, for longer than any job, that `file` came to `path` and was found right. Raises OSError."""
        if file.sha256 is not None:
            self._promises.keep(path, file.sha256)

    def remove(self, job_id: int) -> None:
        """Forget a job."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM downloads WHERE id = ?", (job_id,))

    def order(self, job_ids: Sequence[int]) -> None:
        """Put the jobs into this order."""
        with self._database.transaction() as connection:
            connection.executemany("UPDATE downloads SET place = ? WHERE id = ?", enumerate(job_ids))


def _values(job: Job) -> tuple[object, ...]:
    return (
        job.repo_id,
        job.revision,
        job.commit,
        job.label,
        str(job.root),
        job.layout.value,
        files_as_json(job.files),
        job.state.value,
        error_as_json(job.error),
        int(job.for_room),
    )


def _job(row: sqlite3.Row) -> Job | None:
    try:
        files = files_of_json(row["files"])
        if not files or not all(is_safe(each.file.path) for each in files):
            return None
        return Job(
            row["repo_id"],
            row["revision"],
            row["commit_id"],
            row["label"],
            Path(row["root"]),
            Layout(row["layout"]),
            files,
            State(row["state"]),
            error_of_json(row["error"]),
            bool(row["for_room"]),
            row["added"],
            row["id"],
        )
    except (ValueError, KeyError, TypeError):
        return None
