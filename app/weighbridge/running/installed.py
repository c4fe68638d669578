"""Environments of engines on disk: `<data>/engines/<build id>/<number>/`, each whole once its note is written.

A note is the last thing that an installation writes. What has none was given up half-way, or is being made right now.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from weighbridge.base.small_files import read_small
from weighbridge.running.host_copy import host_of
from weighbridge_engines.api import Cause, Device, Engine

NOTE = "build.json"


@dataclass(frozen=True)
class Note:
    """What an installation found: the version, the devices (None: not told), whether it wrote a token (None: there was
    no model to try), and the day.
    """

    build_id: str
    engine_id: str
    title: str
    version: str | None
    devices: tuple[Device, ...] | None = None
    token: bool | None = None
    installed_on: str | None = None


@dataclass(frozen=True)
class Environment:
    """One whole environment: its folder and its note."""

    folder: Path
    note: Note

    def engine(self, base: Engine) -> Engine:
        """The engine that it holds. Where what we must put beside it cannot be written, that is what is missing."""
        return engine_in(self.folder, self.note.build_id, self.note.version, base)


def engine_in(folder: Path, build_id: str, version: str | None, base: Engine) -> Engine:
    """`base`, hosted by the Python of the environment `folder`."""
    python = python_of(folder)
    try:
        host, unwritable = str(host_of(folder)), None
    except OSError as error:
        host, unwritable = "", Cause("build.unwritable", {"path": str(folder), "reason": error.strerror or str(error)})

    def missing() -> Cause | None:
        gone = None if os.access(python, os.X_OK) else Cause("build.broken", {"path": str(folder), "build": build_id})
        return gone or unwritable

    return replace(
        base if base.placed is None else base.placed(str(python)),
        build=build_id,
        python=str(python),
        host=host,
        missing=missing,
        version=lambda: version,
        install=f"weighbridge engines install {build_id}",
    )


def python_of(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / "Scripts" / "python.exe" if sys.platform == "win32" else folder / "bin" / "python"


def environments(engines: Path) -> Iterator[Environment]:
    """The newest whole environment of each build below the folder `engines`."""
    for build in _folders(engines):
        whole = [(number, note) for number in numbers(build) if (note := read_note(build / str(number)))]
        if whole:
            number, note = whole[-1]
            yield Environment(build / str(number), note)


def numbers(build: Path) -> list[int]:
    """The numbers of a build's environments, whole or not, in order."""
    return sorted(int(folder.name) for folder in _folders(build) if folder.name.isdecimal())


def read_note(folder: Path) -> Note | None:
    """The note of an environment; None where there is none that makes sense."""
    try:
        values = json.loads(read_small(folder / NOTE))
        return _note(values) if values["build_id"] == folder.parent.name else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write_note(folder: Path, note: Note) -> None:
    """Make the environment whole. Raises OSError."""
    beside = folder / f"{NOTE}.new"
    beside.write_text(json.dumps(asdict(note)), encoding="utf-8")
    beside.replace(folder / NOTE)


def _note(values: Mapping[str, Any]) -> Note:
    told = values["devices"]
    texts = {name: values[name] for name in ("build_id", "engine_id", "title")}
    maybe = {name: values[name] for name in ("version", "installed_on")}
    token = values["token"]
    if not all(isinstance(value, str) for value in texts.values()) or token not in (True, False, None):
        raise ValueError
    if not all(value is None or isinstance(value, str) for value in maybe.values()):
        raise ValueError
    devices = None if told is None else tuple(Device(**device) for device in told)
    return Note(**texts, **maybe, devices=devices, token=token)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return []
