"""Finding the model files below a folder, at any depth, without following a loop and without end."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.base.task import Task

SUFFIXES = (".gguf", ".echo")
MAX_DEPTH = 16
MAX_ENTRIES = 200_000
_PARTIAL = "incomplete-"


@dataclass(frozen=True)
class Found:
    """One model file: where it was found, below which folder, and its size and time of change when it was seen."""

    path: Path
    folder: Path
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True)
class Search:
    """The files found, and what was passed over and why."""

    files: tuple[Found, ...]
    skipped: tuple[WeighbridgeError, ...]


def find_files(folders: Iterable[Path], task: Task) -> Search:
    """The model files below `folders`, each once however many links lead to it, in the order of their paths.

    Hidden files and folders and the partial downloads of this and other programs are passed over. A folder that is
    missing is empty. Raises Cancelled.
    """
    walk = _Walk(task)
    files = [found for folder in folders for found in walk.below(folder)]
    return Search(tuple(files), tuple(walk.skipped))


class _Walk:
    """The state of one search: what was seen, what was skipped."""

    def __init__(self, task: Task) -> None:
        self.skipped: list[WeighbridgeError] = []
        self._task = task
        self._seen: set[tuple[int, int]] = set()
        self._entries = 0

    def below(self, root: Path) -> Iterator[Found]:
        """The files below `root`, folder by folder; a list of open folders stands in for recursion."""
        waiting = [(root, 0)]
        while waiting and self._entries <= MAX_ENTRIES:
            folder, depth = waiting.pop()
            deeper: list[tuple[Path, int]] = []
            for path in self._names(folder):
                if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where this answers no
                    deeper.append((path, depth + 1))
                elif path.name.lower().endswith(SUFFIXES) and not path.name.startswith(_PARTIAL):
                    yield from self._file(path, root)
            waiting.extend(reversed([each for each in deeper if self._is_new_folder(*each)]))

    def _names(self, folder: Path) -> list[Path]:
        self._task.check()
        try:
            names = sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208 - names alone
        except FileNotFoundError:
            return []
        except OSError as error:
            self._skip(folder, error.strerror or str(error))
            return []
        allowed = max(0, MAX_ENTRIES - self._entries)
        self._entries += len(names)
        if len(names) > allowed:
            self._skip(folder, f"> {MAX_ENTRIES}")
        return [folder / name for name in names[:allowed]]

    def _is_new_folder(self, folder: Path, depth: int) -> bool:
        if depth > MAX_DEPTH:
            self._skip(folder, f"> {MAX_DEPTH}")
            return False
        return self._is_new(folder) is not None

    def _file(self, path: Path, root: Path) -> Iterator[Found]:
        status = self._is_new(path)
        if status is not None and stat.S_ISREG(status.st_mode):
            yield Found(path, root, status.st_size, status.st_mtime_ns)

    def _is_new(self, path: Path) -> os.stat_result | None:
        """What the path leads to, unless it was seen before or leads nowhere."""
        try:
            status = path.stat()
        except OSError as error:
            self._skip(path, error.strerror or str(error))
            return None
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return None
        self._seen.add(identity)
        return status

    def _skip(self, path: Path, reason: str) -> None:
        self.skipped.append(BadFile("library.skipped", path=str(path), reason=reason))
