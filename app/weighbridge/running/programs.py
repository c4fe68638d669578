"""Asking a server program what it is: version, options, devices. In bounded children, and remembered by its file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from weighbridge.base.errors import EngineFailed, NotFound, Refused
from weighbridge.hardware.child import Answer, ask
from weighbridge.running.command import without_ours
from weighbridge.running.questions import LIMIT_S, Ask, why
from weighbridge_engines import llama_command, llama_program
from weighbridge_engines.api import Device, Engine

ENGINE_ID = "llama_server"


@dataclass(frozen=True)
class Program:
    """What a program told: `options` it knows, its `version`, the `devices` it can use (None: it could not tell).

    `size_bytes` and `changed_ns` tell its file from a later one in the same place.
    """

    path: str
    size_bytes: int
    changed_ns: int
    version: str | None
    options: tuple[str, ...]
    devices: tuple[Device, ...] | None

    @property
    def id(self) -> str:
        """The id of the build that it is."""
        return program_id(self.path)

    @property
    def changed(self) -> bool:
        """Whether another file is in its place now, or none."""
        return _identity(self.path) != (self.size_bytes, self.changed_ns)

    def engine(self) -> Engine:
        """The engine over it."""
        return llama_program.program(self.path, self.version, self.options, self.id)

    def as_json(self) -> dict[str, Any]:
        """Plain values, to be kept."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Program:
        """The other end of `as_json`. Raises TypeError, ValueError or KeyError where it is no such thing."""
        told = values["devices"]
        devices = None if told is None else tuple(Device(**device) for device in told)
        texts = tuple(str(option) for option in values["options"])
        size_bytes, changed_ns = int(values["size_bytes"]), int(values["changed_ns"])
        version = None if values["version"] is None else str(values["version"])
        return cls(str(values["path"]), size_bytes, changed_ns, version, texts, devices)


def program_id(path: str) -> str:
    """The build's id: short, and the same at each start."""
    return f"{ENGINE_ID}-program-{sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def on_path(environment: Mapping[str, str]) -> str | None:
    """The server program that a shell would find."""
    return shutil.which(llama_program.NAME, path=environment.get("PATH"))


def look_at(path: Path, environment: Mapping[str, str], ask_child: Ask | None = None) -> Program:
    """Ask the program at `path`, three questions of LIMIT_S seconds each at most.

    Raises NotFound("build.no_program"), EngineFailed("build.program_failed") where it cannot tell what it knows, and
    Refused("build.not_llama_server"), or ("build.too_old") where it lacks options without which it cannot be run.
    """
    found = os.path.abspath(path)  # noqa: PTH100 - a link stays the link that the user has named
    identity = _identity(found)
    if identity is None or llama_program.missing(found) is not None:
        raise NotFound("build.no_program", path=found)
    child = _Questions(found, without_ours(environment), ask_child or ask)
    options = llama_command.options_in(child.asked("--help"))
    version = llama_program.version_in(child.asked("--version"))
    lacking = llama_command.lacking(options)
    if "--model" in lacking:
        raise Refused("build.not_llama_server", path=found)
    if lacking:
        raise Refused("build.too_old", path=found, version=version or "-", lacking=", ".join(lacking))
    devices = llama_program.read_listing(child.asked("--list-devices"))
    return Program(found, *identity, version, tuple(sorted(options)), None if devices is None else tuple(devices))


class _Questions:
    """One program, asked in children of its own."""

    def __init__(self, path: str, environment: Mapping[str, str], ask_child: Ask) -> None:
        self._path, self._environment, self._ask = path, environment, ask_child

    def asked(self, option: str) -> str:
        """All that it prints: some versions tell on the one stream, some on the other."""
        try:
            answer = self._ask([self._path, option], LIMIT_S, self._environment)
        except OSError as error:
            raise EngineFailed("build.program_failed", path=self._path, reason=error.strerror or str(error)) from error
        if answer.exit_code != 0:
            raise EngineFailed("build.program_failed", path=self._path, reason=_reason(answer))
        return f"{answer.out}\n{answer.err}"


def _reason(answer: Answer) -> str:
    return f"> {int(LIMIT_S)} s" if answer.exit_code is None else why(answer)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
