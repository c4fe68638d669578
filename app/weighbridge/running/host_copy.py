"""The engines' package copied into an environment of its own, so that nothing else of ours is on that Python's path."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import weighbridge_engines
from weighbridge import __version__

_PACKAGE = weighbridge_engines.__name__
FOLDER = "host"


def host_of(environment: Path) -> Path:
    """The folder in `environment` that holds a copy of this very version of the package; made where it is not there.

    Two processes may make it at once: one of the two copies stays. Raises OSError.
    """
    place = environment / FOLDER / _version()
    if not (place / _PACKAGE).is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=place.parent, prefix=".new-"))
        try:
            _copy(made / _PACKAGE)
            with suppress(OSError):  # somebody else was faster
                made.replace(place)
            if not (place / _PACKAGE).is_dir():
                made.replace(place)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return place


def remove_older_hosts(environment: Path) -> None:
    """Remove the copies that other versions have made in `environment`, which nobody may be using now."""
    with suppress(OSError):
        for other in (environment / FOLDER).iterdir():
            if other.name != _version():
                shutil.rmtree(other, ignore_errors=True)


def _copy(target: Path) -> None:
    target.mkdir()
    for file in _sources():
        shutil.copyfile(file, target / file.name)


def _sources() -> list[Path]:
    """The package's modules and their tables. A frozen build brings them as files too, beside its own compiled ones."""
    folder = Path(os.fspath(next(iter(weighbridge_engines.__path__))))
    return sorted(file for file in folder.iterdir() if file.suffix in (".py", ".toml"))


@cache
def _version() -> str:
    """Another for each change of the package, also while it is worked on."""
    content = sha256()
    for file in _sources():
        content.update(file.name.encode())
        content.update(file.read_bytes())
    return f"{__version__}-{content.hexdigest()[:12]}"
