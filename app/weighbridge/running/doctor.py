"""Whether all that a load needs is in order: engines, cards, folders."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.hardware.machine import Machine
from weighbridge.running.choose import PREFERRED
from weighbridge.running.devices import Told, missing_build
from weighbridge.running.installing import TRIAL, none_installed
from weighbridge_engines.api import Cause, Engine

LEAST_FREE_BYTES = 2 << 30
"""Less than that on a volume, and the next download or database may fail."""


class Area(StrEnum):
    """What was looked at."""

    ENGINE = "engine"
    CARD = "card"
    MACHINE = "machine"
    FOLDER = "folder"
    DATABASE = "database"
    SETTINGS = "settings"
    PORT = "port"
    MODEL = "model"


class State(StrEnum):
    """How it stands: well; worth knowing; or so that something will not work."""

    WELL = "well"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True)
class Checked:
    """One thing that was looked at: `subject` is its name or path, `detail` what is known of it, `cause` what is the
    matter.
    """

    area: Area
    subject: str
    state: State = State.WELL
    cause: Cause | None = None
    detail: tuple[str, ...] = ()


def engines_checked(engines: Mapping[str, Engine], told: Sequence[Told]) -> Iterator[Checked]:
    """Each engine that is here, as it told in a child; and that none is here, where that is so. Pure."""
    absent = none_installed(engines.values(), PREFERRED)
    if absent is not None:
        yield Checked(Area.ENGINE, "", State.WRONG, absent)
    for one in told:
        if one.engine_id == TRIAL:
            continue
        subject = " ".join(filter(None, (one.title, one.version)))
        if one.problem is not None:
            yield Checked(Area.ENGINE, subject, State.WRONG, one.problem)
        else:
            yield Checked(Area.ENGINE, subject, detail=tuple(device.name for device in one.devices or ()))


def cards_checked(machine: Machine, told: Sequence[Told]) -> Iterator[Checked]:
    """Each card: whether an engine uses it, and what its driver or probe said. Pure."""
    for device in machine.devices:
        missing = missing_build(device, told)
        causes = [*device.problems, *([missing] if missing else [])]
        for cause in causes:
            yield Checked(Area.CARD, device.name, State.NOTE, cause)
        if not causes:
            yield Checked(Area.CARD, device.name, detail=tuple(filter(None, (device.driver,))))
    for cause in machine.problems:
        yield Checked(Area.MACHINE, machine.cpu.name or "", State.NOTE, cause)


def folder_checked(folder: Path, *, to_write: bool) -> Checked:
    """Whether a folder can be read, written to where we must, and has room. One that is not there yet is made later."""
    subject, there = str(folder), folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        if folder.exists():
            with os.scandir(folder) as inside:
                next(inside, None)
        if to_write:
            with tempfile.TemporaryFile(dir=there):
                pass
        free_bytes = shutil.disk_usage(there).free
    except OSError as error:
        cause = Cause("folder.unusable", {"path": subject, "reason": error.strerror or str(error)})
        return Checked(Area.FOLDER, subject, State.WRONG if to_write else State.NOTE, cause)
    if to_write and free_bytes < LEAST_FREE_BYTES:
        return Checked(
            Area.FOLDER, subject, State.NOTE, Cause("folder.full", {"path": subject, "free_bytes": free_bytes})
        )
    return Checked(Area.FOLDER, subject)


def tried(area: Area, subject: str, look: Callable[[], Iterable[Cause]]) -> list[Checked]:
    """What `look` notices, or the error that it raises."""
    try:
        notices = list(look())
    except WeighbridgeError as error:
        return [Checked(area, subject, State.WRONG, Cause(error.code, error.values))]
    except OSError as error:
        reason = error.strerror or str(error)
        return [Checked(area, subject, State.WRONG, Cause("system", {"reason": reason}))]
    return [Checked(area, subject, State.NOTE, cause) for cause in notices] or [Checked(area, subject)]


def is_well(checked: Iterable[Checked]) -> bool:
    """Whether nothing is wrong."""
    return all(one.state is not State.WRONG for one in checked)
