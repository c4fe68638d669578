"""The files of one place, folder by folder, and how the small ones among them are looked into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weighbridge.formats.variant import File, Hints, Reader

CONFIG = "config.json"


class Folder:
    """One folder of a place: its own files, and what is told of it."""

    def __init__(self, path: str, files: Sequence[File], reader: Reader, hints: Hints) -> None:
        self.path = path
        self.files = tuple(files)
        self.names = frozenset(file.name for file in files)
        self.reader = reader
        self.hints = hints

    def json(self, name: str) -> Mapping[str, Any] | None:
        """The object in the file `name` of this folder; None where there is none. Raises BadFile for a damaged one."""
        if name not in self.names:
            return None
        return self.reader.json(f"{self.path}/{name}" if self.path else name)

    def ending(self, *endings: str) -> list[File]:
        """The files whose names end so, in the order of their names."""
        found = [file for file in self.files if file.name.lower().endswith(endings)]
        return sorted(found, key=lambda file: file.name)

    def titles(self) -> list[str]:
        """The names that makers write facts into: of the branch, of the folder, of the repository."""
        branch = "" if self.hints.branch in ("main", "master") else self.hints.branch
        return [name for name in (branch, self.path.rpartition("/")[2], self.hints.repository) if name]


def folders_of(files: Iterable[File], reader: Reader, hints: Hints) -> list[Folder]:
    """The folders that hold `files`, those above before those below."""
    by_path: dict[str, list[File]] = {}
    for file in files:
        by_path.setdefault(file.folder, []).append(file)
    paths = sorted(by_path, key=lambda path: (path.count("/") if path else -1, path))
    return [Folder(path, by_path[path], reader, hints) for path in paths]


def is_below(path: str, top: str) -> bool:
    """Whether the folder `path` lies in the folder `top`, at any depth."""
    return path != top and (not top or path.startswith(f"{top}/"))
