"""Where a server program is: beside the Python of its environment, on its own, or in a folder that holds it."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from weighbridge_engines.program_table import Entry

_ENDING = ".exe" if sys.platform == "win32" else ""
_PYTHON = "python" + _ENDING
_BIN = "Scripts" if sys.platform == "win32" else "bin"
_ENVIRONMENTS = ("venv", ".venv")
"""What the folder of a cloned program calls the environment that was made for it."""
_READ_BYTES = 512


@dataclass(frozen=True)
class Place:
    """The `program`, or the `python` that runs it, and the `folder` it is started in; None where there is none."""

    program: str | None = None
    python: str | None = None
    folder: str | None = None

    @property
    def there(self) -> bool:
        """Whether it can be started now."""
        known = [path for path in (self.program, self.python) if path is not None]
        return bool(known) and all(os.access(path, os.X_OK) for path in known)


def place_of(entry: Entry, path: str) -> Place:
    """Where `entry` is, by the `path` of a Python, of the program itself, or of its folder."""
    if entry.script:
        return _in_folder(entry, Path(path))
    if not entry.package and not entry.by_python:
        return Place(path)
    if entry.package and is_python(path):
        beside = str(Path(path).with_name(entry.program + _ENDING))
        return Place(python=path) if entry.by_python else Place(beside, path)
    python = python_of(path)
    return Place(python=python) if entry.by_python and python else Place(path, python)


def _in_folder(entry: Entry, folder: Path) -> Place:
    folder = folder.parent if folder.name == entry.script else folder
    pythons = [folder / name / _BIN / _PYTHON for name in _ENVIRONMENTS]
    python = next((one for one in pythons if one.exists()), pythons[0])
    return Place(python=str(python), folder=str(folder))


def is_python(path: str) -> bool:
    """Whether a program is Python itself, by its name."""
    return re.fullmatch(r"python[\d.]*(\.exe)?", Path(path).name) is not None


def python_of(path: str) -> str | None:
    """The Python that runs the script at `path`: as its first line says, else the one beside it; None where neither."""
    named = _named_in(path)
    for python in (named, str(Path(path).with_name(_PYTHON))):
        if python is not None and is_python(python) and os.access(python, os.X_OK):
            return python
    return None


def _named_in(path: str) -> str | None:
    try:
        with Path(path).open("rb") as file:
            first = file.read(_READ_BYTES).split(b"\n", 1)[0]
    except OSError:
        return None
    return os.fsdecode(first[2:].strip()) if first.startswith(b"#!/") else None
