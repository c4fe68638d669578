"""All that whoever mends it needs, to be copied: what happened, versions, machine, build, load and log.

Pure but for `here`. It is for strangers: see `base.redacted`.
"""

from __future__ import annotations

import getpass
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from weighbridge import __version__
from weighbridge.base.redacted import redacted
from weighbridge.base.units import size
from weighbridge.choices.finding import Finding
from weighbridge.choices.finding_words import numbers_in_words, told
from weighbridge.hardware.machine import Device, Machine, Memory
from weighbridge_engines.api import Engine, Load

LOG_LINES = 60


@dataclass(frozen=True)
class Here:
    """Where the report is made: the versions of this program, Python and system, and whose names stay out of it."""

    versions: str
    home: str
    user: str
    machine: str = ""


def here() -> Here:
    """As it is where this runs."""
    versions = f"Weighbridge {__version__} · Python {platform.python_version()} · {platform.platform()}"
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    return Here(versions, str(Path("~").expanduser()), user, platform.node())


def report(
    finding: Finding,
    machine: Machine,
    engine: Engine | None,
    log: Sequence[str],
    here: Here,
    secrets: Iterable[str] = (),
) -> str:
    """The report of `finding` with the last lines of `log`, without any of `secrets` and the names in `here`."""
    parts = (
        str(told(finding)),
        *numbers_in_words(finding),
        f"code: {finding.code}",
        here.versions,
        *_machine(machine),
        _engine(engine),
        f"model: {finding.model.title} ({finding.model.format}, {size(finding.model.size_bytes)})",
        f"load: {_load(finding.load)}",
        "",
        *log[-LOG_LINES:],
    )
    return redacted("\n".join(parts).strip(), secrets, here.home, here.user, here.machine)


def _machine(machine: Machine) -> list[str]:
    processor = f"processor: {machine.cpu.name or 'unknown'}, {machine.cpu.usable_cores} cores"
    extensions = " ".join(machine.cpu.extensions)
    return [
        f"system: {machine.system}",
        f"{processor} ({extensions})",
        f"memory: {_memory(machine.memory)}",
        *map(_device, machine.devices),
    ]


def _device(device: Device) -> str:
    driver = f", driver {device.driver}" if device.driver else ""
    return f"device: {device.name} ({_memory(device.memory)}{driver})"


def _memory(memory: Memory) -> str:
    return f"{_size(memory.total_bytes)}, {_size(memory.available_bytes)} free"


def _size(amount_bytes: int | None) -> str:
    return "unknown" if amount_bytes is None else size(amount_bytes)


def _engine(engine: Engine | None) -> str:
    if engine is None:
        return "engine: none"
    build = f", build {engine.build}" if engine.build else ""
    return f"engine: {engine.title} {engine.version() or 'of unknown version'}{build}"


def _load(load: Load) -> str:
    """What was asked for; what was left to the engine is left out."""
    asked = {name: value for name, value in asdict(load).items() if value not in (None, "", (), {})}
    return ", ".join(f"{name}={value}" for name, value in asked.items())
