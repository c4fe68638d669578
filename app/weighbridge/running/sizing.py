"""Asks an engine what a load would take, without loading: its own table, printed by a child that is then ended.

The child gets copies of the model's files that hold only the headers. It is held to a time, to a length of output, and
to memory, for the state of recurrent layers is really allocated. After its table llama.cpp crashes, or goes on to load:
it is ended at the last row.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.head import Head
from weighbridge.running.child import GRACE_S, Child
from weighbridge.running.command import environment, worker_argv
from weighbridge.running.log import LogRing
from weighbridge.running.skeleton import read_head, write_skeletons
from weighbridge_engines.api import Cause, Engine, Load, Row

LIMIT_S = 20.0
LIMIT_OUTPUT_BYTES = 1 << 20
"""llama.cpp prints some 20 lines up to its table."""
LEAST_MEMORY_BYTES, MOST_MEMORY_BYTES = 512 << 20, 4 << 30
REMEMBERED = 256
_PREFIX = "sizing-"
_LEFT_BEHIND_S = 3600.0
_END_POLL_S = 0.01


@dataclass(frozen=True)
class Table:
    """What `engine_id` in `version` said that a load takes; the figures may be rounded down to whole MiB."""

    rows: tuple[Row, ...]
    engine_id: str
    version: str | None

    @property
    def total_bytes(self) -> int:
        """The sum of all rows."""
        return sum(row.total_bytes for row in self.rows)


@dataclass(frozen=True)
class Limits:
    """What a child may use: seconds, bytes of output, bytes of memory."""

    time_s: float = LIMIT_S
    output_bytes: int = LIMIT_OUTPUT_BYTES
    memory_bytes: int = MOST_MEMORY_BYTES


class Sizing:
    """Tables of loads on this machine, one at a time, remembered while files, engine and load stay the same.

    `folder` gets the copies of headers, for a moment. `available_bytes` is free memory, None where unknown: a child
    gets half of it at most.
    """

    def __init__(self, engines: Mapping[str, Engine], folder: Path, available_bytes: Callable[[], int | None]) -> None:
        self._engines = engines
        self._folder = folder
        self._available_bytes = available_bytes
        self._one = threading.Lock()
        self._known: OrderedDict[tuple[str, str | None, str, str], Table] = OrderedDict()

    def table(self, engine_id: str, parts: Sequence[Path], load: Load, task: Task | None = None) -> Table | Cause:
        """The engine's table for the model in `parts`, or why there is none.

        Takes half a second, LIMIT_S at most. Raises Cancelled where `task` is cancelled.
        """
        return self._table(engine_id, files_of(parts), lambda: [read_head(path) for path in parts], load, task)

    def table_of_heads(
        self, engine_id: str, heads: Sequence[Head], load: Load, task: Task | None = None
    ) -> Table | Cause:
        """The same for a model that is not here, of which there are only `heads`, one for each part."""
        return self._table(engine_id, contents_of(heads), lambda: heads, load, task)

    def _table(
        self, engine_id: str, files: str, heads: Callable[[], Sequence[Head]], load: Load, task: Task | None
    ) -> Table | Cause:
        engine = self._engines[engine_id]
        with self._one:
            key = (engine.build or engine.id, engine.version(), files, decisive(load))
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
            table = self._asked(engine, heads, load, task or Task())
            if isinstance(table, Table):
                self._known[key] = table
                if len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            return table

    def _asked(self, engine: Engine, heads: Callable[[], Sequence[Head]], load: Load, task: Task) -> Table | Cause:
        limits = Limits(memory_bytes=memory_limit(self._available_bytes()))
        try:
            read = heads()
        except WeighbridgeError as error:
            return Cause(error.code, error.values)
        return sized(engine, read, load, self._folder, limits, task)


def sized(
    engine: Engine, heads: Sequence[Head], load: Load, folder: Path, limits: Limits, task: Task | None = None
) -> Table | Cause:
    """The engine's table for a model of which there are only `heads`. `load.model` is not looked at."""
    missing = engine.missing()
    if missing is not None:
        return missing
    if engine.size is None and engine.size_command is None:
        return Cause("sizing.not_offered", {"engine": engine.title})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_left_behind(folder)
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder, ignore_cleanup_errors=True) as place:
            path = write_skeletons(heads, Path(place))
            return _trial(engine, replace(load, model=str(path)), limits, task or Task())
    except WeighbridgeError as error:
        return Cause(error.code, error.values)
    except OSError as error:
        return Cause("sizing.unwritable", {"path": str(folder), "reason": error.strerror or str(error)})


def memory_limit(available_bytes: int | None) -> int:
    """How much a child may take of what is free."""
    if available_bytes is None:
        return MOST_MEMORY_BYTES
    return min(MOST_MEMORY_BYTES, max(LEAST_MEMORY_BYTES, available_bytes // 2))


class Listener:
    """Picks the first table out of a child's output. `done` is set at its end, at too much output, and at the end."""

    def __init__(self, engine: Engine, most_bytes: int) -> None:
        self.log = LogRing()
        self.rows: tuple[Row, ...] = ()
        self.done = threading.Event()
        self._engine = engine
        self._left_bytes = most_bytes

    @property
    def complete(self) -> bool:
        """Whether what was heard is a whole table, once `done` is set: the memory of the system is in each."""
        return any(row.host for row in self.rows)

    def hear(self, line: str) -> None:
        """One more line, from the child's reader thread."""
        self._left_bytes -= len(line) + 1
        if self.done.is_set():
            return
        self.log.add(line)
        row = self._engine.row(line)
        if row is not None:
            self.rows = (*self.rows, row)
        if self._left_bytes < 0 or (row is None and self.rows):
            self.done.set()


def _trial(engine: Engine, load: Load, limits: Limits, task: Task) -> Table | Cause:
    """Start the child, listen, end it."""
    heard = Listener(engine, limits.output_bytes)
    child = Child(
        _argv(engine, load, limits.memory_bytes),
        environment(engine, "", os.environ),
        heard.hear,
        heard.done.set,
        limits.memory_bytes if engine.size_command else None,
    )
    try:
        task.on_cancel(heard.done.set)
        in_time = heard.done.wait(limits.time_s)
    finally:
        task.on_cancel(None)
        exit_code = _ended(child)
    task.check()
    if in_time and heard.complete:
        return Table(heard.rows, engine.id, engine.version())
    last_line = next(iter(heard.log.tail(1)), "")
    untold = (
        Cause("sizing.no_table", {"line": last_line})
        if in_time
        else Cause("sizing.slow", {"limit_s": int(limits.time_s)})
    )
    cause = engine.diagnose(heard.log.lines(), exit_code) or untold
    return Cause(cause.code, {**cause.values, "engine": engine.title, "exit_code": exit_code})


def _argv(engine: Engine, load: Load, memory_bytes: int) -> list[str]:
    """The program's own trial, or the worker, which holds itself to the limit once the library is loaded."""
    if engine.size_command is not None:
        return engine.size_command(load)
    worker = worker_argv(engine, bool(getattr(sys, "frozen", False)))
    return [*worker, engine.id, "--size", str(memory_bytes), "--load", json.dumps(load.as_json())]


def _ended(child: Child) -> int | None:
    """End a child and wait for it; None for one that is stuck in the kernel, which nothing ends."""
    child.stop()
    until = time.monotonic() + 2 * GRACE_S
    while (code := child.ended()) is None and time.monotonic() < until:
        time.sleep(_END_POLL_S)
    return code


def _remove_left_behind(folder: Path) -> None:
    """The copies of a program that was killed amid a trial."""
    now_s = time.time()
    for place in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if now_s - place.stat().st_mtime > _LEFT_BEHIND_S:
                shutil.rmtree(place)


def decisive(load: Load) -> str:
    """The values of a load on which its memory depends, as text that is equal where they are."""
    return json.dumps({**load.as_json(), "model": "", "alias": "", "threads": None}, sort_keys=True)


def files_of(parts: Sequence[Path]) -> str:
    """Which files these are, as text that is another once one has changed."""
    return json.dumps([_identity(path) for path in parts])


def contents_of(heads: Sequence[Head]) -> str:
    """Which headers these are, as text that is another for others."""
    return json.dumps([(hashlib.sha256(head.content).hexdigest(), head.size_bytes) for head in heads])


def _identity(path: Path) -> tuple[str, int, int] | None:
    """None for a file that cannot be looked at: that is found out when it is read."""
    try:
        status = path.stat()
    except OSError:
        return None
    return str(path), status.st_size, status.st_mtime_ns
