"""What the user, and time, have written on models: notes, when one was last used, what was taken off the list.

A mark belongs to a path and a format: it survives every scan, and a file that goes and comes back still bears it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from weighbridge.base.database import Database
from weighbridge.base.errors import Refused
from weighbridge.base.listeners import Listeners
from weighbridge.base.printable import encodable
from weighbridge.formats.variant import Role
from weighbridge.library.model import Helper, Key, Model, key_of

MAX_NOTE = 10_000
"""Characters of a note."""

Listener = Callable[[Key], object]


@dataclass(frozen=True)
class Mark:
    """What is written on one model. `used_s`: seconds since 1970, None where it never was.

    `off_list`: not to be listed, offered or served, though its files are there. `parts` are the files to load beside
    it, chosen by the user; None for a role: none at all. A role that is not there is chosen by name and fit.
    """

    note: str = ""
    used_s: float | None = None
    off_list: bool = False
    parts: Mapping[Role, Path | None] = field(default_factory=dict)


class Marks:
    """The one owner of all marks, in `database`. Safe to use from any thread.

    Reading looks at memory alone. Writing raises BadFile("database.failed"), and then nothing has changed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.RLock()
        self._marks: dict[Key, Mark] = {}
        self._listeners: Listeners[[Key]] = Listeners()
        self.reload()

    def of(self, model: Model) -> Mark:
        """What is written on `model`."""
        return self._marks.get(key_of(model), Mark())

    def all(self) -> Mapping[Key, Mark]:
        """All marks, also of models that are not here now."""
        with self._lock:
            return dict(self._marks)

    def reload(self) -> None:
        """Read them again: another process may have written some."""
        with self._lock:
            rows = self._database.rows("SELECT * FROM marks")
            self._marks = {(Path(os.fsdecode(row["path"])), str(row["format"])): _mark(row) for row in rows}

    def write_note(self, model: Model, note: str) -> None:
        """Write `note` in the place of what was noted on `model`. Raises Refused("note.too_long") past MAX_NOTE."""
        if len(note) > MAX_NOTE:
            raise Refused("note.too_long", count=len(note), most=MAX_NOTE)
        self._write(key_of(model), note=encodable(note))

    def used(self, model: Model, when_s: float) -> None:
        """Say that `model` was used then, in seconds since 1970."""
        self._write(key_of(model), used_s=when_s)

    def take_off(self, model: Model) -> None:
        """Leave `model` out of every list; its files stay."""
        self._write(key_of(model), off_list=True)

    def put_back(self, model: Model) -> None:
        """Undo `take_off`."""
        self._write(key_of(model), off_list=False)

    def put_back_below(self, place: Path) -> None:
        """Put back all that is `place`, or lies below it: who fetches a model once more wants to see it."""
        for key, mark in self.all().items():
            if mark.off_list and key[0].is_relative_to(place):
                self._write(key, off_list=False)

    def choose_part(self, model: Model, role: Role, path: Path | None) -> None:
        """Have the file at `path` loaded beside `model` in `role`; None: no file."""
        with self._lock:
            self._write(key_of(model), parts={**self.of(model).parts, role: path})

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with the key of each model whose mark was changed, from the thread that did it.

        Returns what ends that.
        """
        return self._listeners.add(listener)

    def _write(self, key: Key, **changes: object) -> None:
        """Only what has changed is written: another process may have written the rest meanwhile."""
        with self._lock:
            made = replace(self._marks.get(key, Mark()), **changes)  # type: ignore[arg-type]
            values = {_COLUMNS[name]: _column(made, name) for name in changes}
            with self._database.transaction() as connection:
                named = (os.fsencode(key[0]), key[1])
                connection.execute("INSERT OR IGNORE INTO marks (path, format) VALUES (?, ?)", named)
                sets = ", ".join(f"{name} = ?" for name in values)
                connection.execute(f"UPDATE marks SET {sets} WHERE path = ? AND format = ?", (*values.values(), *named))
            self._marks[key] = made
        self._listeners.tell(key)


def as_chosen(model: Model, mark: Mark) -> Model:
    """`model` with the companions that were chosen for it in front, and without those of which none was to be.

    A chosen file that is gone counts as not chosen.
    """
    companions = list(model.companions)
    for role, path in mark.parts.items():
        if path is None:
            companions = [helper for helper in companions if helper.role is not role]
        elif (size_bytes := _size(path)) is not None:
            others = [helper for helper in companions if (helper.role, helper.path) != (role, path)]
            companions = [Helper(role, path, size_bytes), *others]
    return replace(model, companions=tuple(companions)) if mark.parts else model


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


_COLUMNS = {"note": "note", "used_s": "used", "off_list": "off_list", "parts": "parts"}


def _column(mark: Mark, name: str) -> object:
    if name == "parts":
        return json.dumps({role: None if path is None else os.fspath(path) for role, path in mark.parts.items()})
    return getattr(mark, name)


def _mark(row: sqlite3.Row) -> Mark:
    """A damaged choice of parts must not keep the note from being read."""
    try:
        told = json.loads(row["parts"])
        parts = {Role(role): None if path is None else Path(path) for role, path in told.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        parts = {}
    return Mark(row["note"], row["used"], bool(row["off_list"]), parts)
