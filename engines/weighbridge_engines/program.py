"""Engines that are server programs described by data: vLLM, SGLang, LMDeploy, `transformers serve` and others.

`programs.toml` beside this file tells all of each; this module makes an `Engine` of each entry, as it would be beside
this program's own Python, and `placed` makes it for the Python of an environment, or for a program of the user's.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from weighbridge_engines.api import KEY_VARIABLE, Cause, Device, Dialect, Engine, Hardware, Load
from weighbridge_engines.installed import is_installed
from weighbridge_engines.program_command import (
    SAID_PORT,
    checked,
    command,
    environment_of,
    name_of,
)
from weighbridge_engines.program_log import diagnose, report
from weighbridge_engines.program_place import Place, place_of
from weighbridge_engines.program_table import Entry, read_table

TABLE = Path(__file__).with_name("programs.toml")
LOOK = Path(__file__).with_name("program_devices.py")
_MOST_KEY_BYTES = 1 << 16


def engines_of(text: str, *, yours: bool = False) -> tuple[tuple[Engine, ...], tuple[Cause, ...]]:
    """The engines of a table, and what is wrong with its other entries; `yours` are those of the user."""
    entries, wrong = read_table(text, yours=yours)
    return tuple(map(engine_of, entries)), wrong


def engine_of(entry: Entry) -> Engine:
    """The engine of `entry`, not yet anywhere but beside this program's own Python, or where the user says it is."""
    return _engine(entry, _beside(entry), own=True)


def _beside(entry: Entry) -> Place:
    """Beside our own Python; one that is no Python package is where a shell would find it, or nowhere yet."""
    if entry.script:
        return Place()
    if entry.package:
        return place_of(entry, sys.executable)
    found = shutil.which(entry.program)
    return Place(entry.program) if found is None else place_of(entry, found)


def _engine(entry: Entry, place: Place, *, own: bool) -> Engine:
    ours = own and bool(entry.package)
    by_argument = entry.key == "argument" and place.python is not None
    return Engine(
        id=entry.id,
        title=entry.title,
        formats=entry.formats,
        capabilities=entry.capabilities,
        install=entry.get or entry.program,
        missing=partial(_missing, entry, place, own=own),
        version=partial(_version, entry) if own else lambda: None,
        command=partial(command, entry, place),
        report=partial(report, entry),
        diagnose=partial(diagnose, entry),
        controls=entry.controls,
        check=partial(checked, entry),
        said=partial(_said, entry),
        dialect=Dialect(entry.base_path, entry.health, entry.fields, entry.ready_s),
        name_of=partial(name_of, entry),
        environment=entry.environment,
        knows_keys=entry.key in ("variable", "file") or by_argument,
        python=None if ours else place.python,
        program=None if ours else place.program or place.folder,
        listing=listing_of(entry, place),
        read_listing=read_listing,
        key_variable=entry.key_by if entry.key == "variable" else KEY_VARIABLE,
        placed=lambda path: _engine(entry, place_of(entry, path), own=False),
        folder=place.folder,
        environment_of=partial(environment_of, entry),
        own_key=partial(own_key, entry, place) if entry.key == "file" else None,
        hardware=hardware_of(entry),
        notes=entry.notes,
        yours=entry.yours,
        known_as=entry.script or Path(entry.program).name,
    )


def hardware_of(entry: Entry) -> Hardware:
    """What it computes on."""
    return Hardware(
        vendors=entry.vendors,
        processor=entry.processor != "no",
        processor_build="" if entry.processor in ("yes", "no") else entry.processor,
        least_compute_capability=entry.least_compute_capability,
        share=entry.share,
        without_card=dict(entry.without_card),
        unless_with=entry.unless_with,
    )


def listing_of(entry: Entry, place: Place) -> tuple[str, ...]:
    """How the Python of the place is asked what is there; nothing where there is none."""
    if not entry.package or place.python is None:
        return ()
    name, *needed = entry.package.split()
    return (place.python, "-I", str(LOOK), entry.processor, name, *needed)


def read_listing(text: str) -> list[Device] | None:
    """The devices that it tells; None where it does not, or where a part of it is missing."""
    told = told_in(text)
    try:
        return None if told is None or told["missing"] else [Device(**one) for one in told["devices"]]
    except (KeyError, TypeError):
        return None


def told_in(text: str) -> Mapping[str, Any] | None:
    """What `program_devices` printed as the last line that is JSON."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                told = json.loads(line)
            except (ValueError, RecursionError):
                continue
            return told if isinstance(told, dict) else None
    return None


def own_key(entry: Entry, place: Place) -> str | None:
    """The key that the server keeps in a file of its own, "NAME: KEY" on a line; None where it has none yet."""
    file, _, name = entry.key_by.partition(":")
    try:
        with (Path(place.folder or "") / file).open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST_KEY_BYTES)
    except OSError:
        return None
    found = re.search(rf"^{re.escape(name)}:\s*['\"]?([^\s'\"]+)", text, re.MULTILINE)
    return found[1] if found else None


def _missing(entry: Entry, place: Place, *, own: bool) -> Cause | None:
    system = platform.system().lower()
    if system not in entry.systems:
        return Cause("program.not_for_system", {"systems": ", ".join(entry.systems), "system": system})
    absent = _absent(entry.package.split()) if own and entry.package else None
    if absent is None and place.there:
        unheld = entry.starter and place.python is None
        return Cause("program.no_python", {"engine": entry.title, "path": place.program}) if unheld else None
    if entry.get and own:
        return Cause("program.to_get", {"engine": entry.title, "get": entry.get})
    return Cause("build.no_program", {"path": place.program or place.folder or entry.program})


def _absent(packages: Iterable[str]) -> str | None:
    return next((package for package in packages if not is_installed(package)), None)


def _version(entry: Entry) -> str | None:
    try:
        return metadata.version(entry.package.split()[0]) if entry.package else None
    except metadata.PackageNotFoundError:
        return None


def _said(entry: Entry, load: Load) -> list[str]:
    """As a person would type it: by its name, at the port that is usual."""
    return command(entry, Place(entry.program), load, SAID_PORT)


def _shipped() -> tuple[Engine, ...]:
    engines, wrong = engines_of(TABLE.read_text(encoding="utf-8"))
    if wrong:
        raise ValueError(wrong)
    return engines


ENGINES = _shipped()
