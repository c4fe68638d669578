"""Engines that the user has described: a table of server programs in the folder of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from weighbridge.base.small_files import read_small
from weighbridge_engines.api import Cause, Engine
from weighbridge_engines.program import engines_of


class Described:
    """The engines of the table `path` (None: there is none), read again once the file has changed.

    One thread at a time calls `engines`. None replaces an engine that is `shipped`.
    """

    def __init__(self, path: Path | None, shipped: Mapping[str, Engine]) -> None:
        self._path, self._shipped = path, shipped
        self._read_as: tuple[int, int] | None = None
        self._engines: Mapping[str, Engine] = {}
        self.problems: tuple[Cause, ...] = ()
        """What is wrong with entries that are left out."""

    def engines(self) -> Mapping[str, Engine]:
        """By id. What cannot be read is told in `problems`, and is never fatal."""
        state = self._state()
        if state is None:
            self._engines, self.problems = {}, ()
        elif state != self._read_as:
            self._read()
        self._read_as = state
        return self._engines

    def _state(self) -> tuple[int, int] | None:
        try:
            told = None if self._path is None else self._path.stat()
        except OSError:
            return None
        return None if told is None else (told.st_size, told.st_mtime_ns)

    def _read(self) -> None:
        assert self._path is not None
        try:
            text = read_small(self._path)
        except (OSError, ValueError) as error:
            self._engines, self.problems = {}, (_wrong(self._path.name, str(error)),)
            return
        engines, problems = engines_of(text, yours=True)
        taken = [engine.id for engine in engines if engine.id in self._shipped]
        self.problems = (*problems, *(_wrong(name, "id: Weighbridge has an engine of that id") for name in taken))
        self._engines = {engine.id: engine for engine in engines if engine.id not in self._shipped}


def _wrong(name: str, reason: str) -> Cause:
    return Cause("program.bad_entry", {"name": name, "reason": reason, "line": 0})
