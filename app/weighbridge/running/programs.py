"""Asking a server program what it is: version, options, devices. In bounded children, and remembered by its file.

A llama-server is asked itself; one that the engine's data describe is asked through its Python, where it has one.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from weighbridge.base.errors import EngineFailed, NotFound, Refused
from weighbridge.hardware.child import Answer, ask
from weighbridge.running.command import without_ours
from weighbridge.running.questions import LIMIT_S, Ask, why
from weighbridge_engines import llama_command, llama_program
from weighbridge_engines.api import Device, Engine
from weighbridge_engines.program import told_in

ENGINE_ID = "llama_server"


@dataclass(frozen=True)
class Program:
    """What a program told: `options` it knows, its `version`, the `devices` it can use (None: it could not tell).

    `size_bytes` and `changed_ns` tell its file from a later one in the same place. `engine_id` is that of the engine
    that it is of.
    """

    path: str
    size_bytes: int
    changed_ns: int
    version: str | None
    options: tuple[str, ...]
    devices: tuple[Device, ...] | None
    engine_id: str = ENGINE_ID

    @property
    def id(self) -> str:
        """The id of the build that it is."""
        return program_id(self.path, self.engine_id)

    @property
    def changed(self) -> bool:
        """Whether another file is in its place now, or none."""
        return _identity(self.path) != (self.size_bytes, self.changed_ns)

    def engine(self, base: Engine | None = None) -> Engine:
        """The engine over it; `base` is that of `engine_id` as the catalogue has it."""
        if base is None or base.placed is None:
            return llama_program.program(self.path, self.version, self.options, self.id)
        return replace(base.placed(self.path), build=self.id, version=lambda: self.version)

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
        engine_id = str(values.get("engine_id", ENGINE_ID))
        return cls(str(values["path"]), size_bytes, changed_ns, version, texts, devices, engine_id)


def program_id(path: str, engine_id: str = ENGINE_ID) -> str:
    """The build's id: short, and the same at each start."""
    return f"{engine_id}-program-{sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def on_path(environment: Mapping[str, str], name: str = llama_program.NAME) -> str | None:
    """The server program that a shell would find."""
    return shutil.which(name, path=environment.get("PATH"))


def engine_named(path: Path, engines: Iterable[Engine]) -> str:
    """Which of `engines` the program, or the folder, at `path` is of, by its name or by the script in it: a
    llama-server where nothing says otherwise.
    """
    for engine in engines:
        named = path.name.removesuffix(".exe") == engine.known_as
        if engine.known_as and (named or (path.is_dir() and (path / engine.known_as).is_file())):
            return engine.id
    return ENGINE_ID


def look_at(
    path: Path, environment: Mapping[str, str], ask_child: Ask | None = None, base: Engine | None = None
) -> Program:
    """Ask the program at `path`, three questions of LIMIT_S seconds each at most. `base` is the engine that it is of, a
    llama-server without one.

    Raises NotFound("build.no_program"), EngineFailed("build.program_failed") where it cannot tell what it knows, and
    Refused("build.not_llama_server"), or ("build.too_old") where it lacks options without which it cannot be run.
    """
    found = os.path.abspath(path)  # noqa: PTH100 - a link stays the link that the user has named
    identity = _identity(found)
    if base is not None and base.placed is not None:
        return _described(found, identity, base.placed(found), environment, ask_child or ask)
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


def _described(
    path: str, identity: tuple[int, int] | None, engine: Engine, environment: Mapping[str, str], ask_child: Ask
) -> Program:
    """What the Python of a program tells of it; nothing where it has none.

    Raises Refused("program.no_module") too, where a package that it needs is not there.
    """
    if identity is None or engine.missing() is not None:
        raise NotFound("build.no_program", path=path)
    if not engine.listing:
        return Program(path, *identity, None, (), None, engine.id)
    try:
        answer = ask_child(list(engine.listing), LIMIT_S, without_ours(environment))
    except OSError as error:
        raise EngineFailed("build.program_failed", path=path, reason=error.strerror or str(error)) from error
    told = told_in(answer.out)
    if answer.exit_code != 0 or told is None:
        raise EngineFailed("build.program_failed", path=path, reason=_reason(answer))
    version = told["version"] if isinstance(told["version"], str) else None
    lacking = told["missing"] or ([engine.id] if version is None else [])
    if lacking:
        raise Refused("program.no_module", engine=engine.title, package=", ".join(map(str, lacking)))
    devices = engine.read_listing(answer.out)
    return Program(path, *identity, version, (), None if devices is None else tuple(devices), engine.id)


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
    """Size and time of change of a file; a folder is the same for as long as it is there."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return (0, 0) if stat.S_ISDIR(status.st_mode) else (status.st_size, status.st_mtime_ns)
