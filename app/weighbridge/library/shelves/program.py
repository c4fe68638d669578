"""What is told of a program to find its models: the one contract that each module of this package fulfils."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.task import Task
from weighbridge.library.files import Found, Walk
from weighbridge.library.headers import Headers
from weighbridge.library.rows import Row, rows_below


@dataclass(frozen=True)
class Where:
    """A computer, as far as it decides where programs keep things. `platform` is that of `sys.platform`."""

    environment: Mapping[str, str]
    home: Path
    platform: str

    def told(self, *names: str) -> Path | None:
        """The folder that the first of some variables names, "~" being the home folder; None where none does."""
        found = next((value for name in names if (value := self.environment.get(name))), "")
        path = self.home / found[2:] if found.startswith(("~/", "~\\")) else Path(found)
        return path if path.is_absolute() else None

    @property
    def data(self) -> Path:
        """Where programs keep what is the user's."""
        return self._folder(
            "APPDATA", "AppData/Roaming", "Library/Application Support", "XDG_DATA_HOME", ".local/share"
        )

    @property
    def local_data(self) -> Path:
        """As `data`, but what does not follow the user from one Windows machine to the next."""
        local = "AppData/Local"
        return self._folder("LOCALAPPDATA", local, "Library/Application Support", "XDG_DATA_HOME", ".local/share")

    @property
    def config(self) -> Path:
        """Where programs keep their settings."""
        return self._folder("APPDATA", "AppData/Roaming", "Library/Application Support", "XDG_CONFIG_HOME", ".config")

    @property
    def cache(self) -> Path:
        """Where programs keep what they can get again."""
        return self._folder("LOCALAPPDATA", "AppData/Local", "Library/Caches", "XDG_CACHE_HOME", ".cache")

    def _folder(self, windows: str, windows_usual: str, mac: str, variable: str, usual: str) -> Path:
        if self.platform == "darwin":
            return self.home / mac
        names = (windows, windows_usual) if self.platform == "win32" else (variable, usual)
        return self.told(names[0]) or self.home / names[1]


def this_computer() -> Where:
    """The computer that this runs on."""
    return Where(os.environ, Path.home(), sys.platform)


@dataclass(frozen=True)
class Look:
    """What a folder is looked at with: its files are found by `walk`, their headers read by `headers`."""

    walk: Walk
    headers: Headers
    task: Task


def plain_rows(folder: Path, look: Look) -> Iterator[Row]:
    """Models that lie below `folder` under names of their own, at any depth."""
    return rows_below(folder, list(look.walk.below(folder)), look.headers, look.task)


def only(folder: Path, names: Set[str], beginnings: tuple[str, ...] = ()) -> bool:
    """Whether what is to be seen in `folder` has some of these names, or such beginnings, and nothing else is there."""
    try:
        there = [name for name in os.listdir(folder) if not name.startswith(".")]  # noqa: PTH208 - names alone
    except OSError:
        return False
    return bool(there) and all(name in names or name.startswith(beginnings) for name in there)


def _nowhere(where: Where | Path) -> Sequence[Path]:
    del where
    return ()


def _nothing(files: Sequence[Found], look: Look) -> Iterable[Row]:
    del files, look
    return ()


@dataclass(frozen=True)
class Program:
    """A program that has models. Nothing that is called here writes anything.

    `id` is the `source` of its models, `title` its own name. `folders` tells where it keeps models on a computer,
    whether or not it is installed there; it reads the program's settings at most. `rows` gives the models of such a
    folder. `within` gives the folders to look at instead of one that the user has named, where that is the program's
    and nobody else's; none where it is not. `among` gives the models that are told by the program's files among those
    that were found below a folder of the user.
    """

    id: str
    title: str
    folders: Callable[[Where], Sequence[Path]] = _nowhere
    rows: Callable[[Path, Look], Iterable[Row]] = plain_rows
    within: Callable[[Path], Sequence[Path]] = _nowhere
    among: Callable[[Sequence[Found], Look], Iterable[Row]] = _nothing
