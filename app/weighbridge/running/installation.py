"""Installing builds of engines into environments of their own, trying them, and removing them.

What was in use stays in use until the new build has told its devices and, where there is a model to try with, has
written a token. What fails is removed, and its log is kept. Nothing is installed unless the user asks for it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TextIO

import psutil

from weighbridge.base.errors import BadFile, Cancelled, EngineFailed, Refused, WeighbridgeError
from weighbridge.base.explain import explain_code
from weighbridge.base.locks import FileLock
from weighbridge.base.task import Task
from weighbridge.hardware.child import ask
from weighbridge.hub.network import CANCELLED, NetworkLog
from weighbridge.library.model import Model
from weighbridge.running.build_trial import version_told, writes_a_token
from weighbridge.running.builds import Build, BuildKind, Recipe, runs_on
from weighbridge.running.devices import told_now
from weighbridge.running.engines import Engines
from weighbridge.running.host_copy import remove_older_hosts
from weighbridge.running.installed import NOTE, Note, engine_in, numbers, python_of, write_note
from weighbridge.running.newer import newer_in, package_of
from weighbridge.running.questions import Ask
from weighbridge.running.uv_run import OnLine, Source, from_indexes, from_wheels, python_for, run_uv, size_of
from weighbridge_engines.api import Cause, Device, Engine

PURPOSE = "package index"
_SCRATCH = "scratch"
_FULL = ("(os error 28)", "(os error 112)")
"""How uv says that a disk is full, on Windows by the second; it says so last, after much else."""


@dataclass(frozen=True)
class Outcome:
    """A build that is installed now. `why_not` says why it was not put to use, where that was asked for."""

    build: Build
    why_not: Cause | None = None


def no_line(line: str) -> None:
    """For whoever wants no lines."""
    del line


class Installer:
    """Over the live `engines`. `log` gets a line for each index that is asked; `offline` tells whether none may be."""

    def __init__(self, engines: Engines, log: NetworkLog, offline: Callable[[], bool]) -> None:
        self._engines = engines
        self._network = log
        self._offline = offline

    def install(
        self,
        build_id: str,
        task: Task,
        *,
        model: Model | None = None,
        wheels: Path | None = None,
        use: bool = True,
        on_line: OnLine = no_line,
    ) -> Outcome:
        """Install a build, or install it anew; put it to use, unless it sees no card though it is for cards.

        `model` is tried with it. `wheels`: a wheel, or a folder of wheels, in place of an index. `task.progress` tells
        the bytes that have come, `on_line` each line of the log, from another thread.

        Raises NotFound("build.unknown"); Refused("build.not_for_system"), ("hub.offline"), ("build.busy");
        BadFile("build.no_wheels"), ("build.unwritable"); EngineFailed("build.install_failed"), ("build.no_devices"),
        ("build.no_token"); Cancelled. In each case nothing new is left but the log.
        """
        recipe = self._engines.recipe(build_id)
        self._check(recipe, wheels)
        with self._alone(build_id), self._log_of(build_id) as file:
            told = _Lines(file, on_line)
            folder = self._place(build_id)
            try:
                self._fetch(recipe, folder, wheels, task, told)
                note = self._tried(recipe, folder, model, task, told)
                write_note(folder, note)
            except OSError as error:
                raise self._unwritable(error) from error
            finally:
                self._tidy(folder)
            self._engines.refresh(told=True)
            why_not = self._put_to_use(recipe, note) if use else None
            self._remove_older(folder)
        return Outcome(self._engines.build(build_id), why_not)

    def newer(self, build_id: str, task: Task) -> str | None:
        """Ask the indexes for a newer version of a build that is installed; None: it is the newest that they have.

        Raises NotFound("build.not_here"), ("build.unknown"); Refused("hub.offline");
        EngineFailed("build.newer_failed"); Cancelled.
        """
        build, recipe = self._engines.build(build_id), self._engines.recipe(build_id)
        if self._offline():
            raise Refused("hub.offline")
        source, lines = from_indexes(self._engines.environment, recipe.index), list[str]()
        words = ["pip", "list", "--outdated", "--format", "json", "--python", str(python_of(Path(build.place)))]
        with tempfile.TemporaryDirectory(prefix="weighbridge-") as cache, self._noted(source):
            why = run_uv([*words, *source.arguments], source.environment, Path(cache), task, PURPOSE, lines.append)
            try:
                return newer_in(lines if why is None else (), package_of(recipe))
            except ValueError:
                raise EngineFailed("build.newer_failed", tuple(lines), build=build.id, reason=why or "-") from None

    def add(
        self, path: Path, task: Task, *, model: Model | None = None, use: bool = True, engine_id: str | None = None
    ) -> Build:
        """Take in a server program of the user's, of the engine `engine_id` (None: as its name tells), try it with
        `model`, and put it to use.

        Raises what `Engines.add` raises, and EngineFailed("build.program_no_token"), where it is on the list but not in
        use; BadFile("build.unwritable"); Cancelled.
        """
        try:
            build = self._engines.add(path, engine_id)
            if model is not None:
                self._try_program(build, model, task)
            if use:
                self._engines.use(build.id)
        except OSError as error:
            raise self._unwritable(error) from error
        return self._engines.build(build.id)

    def _try_program(self, build: Build, model: Model, task: Task) -> None:
        task.step(0, None, "token")
        try:
            writes_a_token(self._engines.engine_of(build.id), model, self._engines.environment, task)
        except EngineFailed as error:
            reason = str(explain_code(error.code, error.values))
            raise EngineFailed("build.program_no_token", error.log, path=build.place, reason=reason) from error

    def remove(self, build_id: str) -> None:
        """Remove an installed build, or take a program off the list; what is in use then is what would be by default.

        Raises NotFound("build.not_here"); Refused("build.not_removable"), ("build.in_use_now"), ("build.busy");
        BadFile("build.unwritable").
        """
        build = self._engines.build(build_id)
        if build.kind is BuildKind.OURS:
            raise Refused("build.not_removable", build=build.id)
        if (pid := user_of(Path(build.place))) is not None:
            raise Refused("build.in_use_now", build=build.id, pid=pid)
        if build.kind is BuildKind.ENVIRONMENT:
            with self._alone(build.id):
                self._delete(self._engines.folder / build.id)
                self.log_of(build.id).unlink(missing_ok=True)
        self._engines.forget(build.id)

    def clean(self) -> None:
        """Remove what interrupted installations have left, environments that a newer one has replaced, and what an
        earlier Weighbridge has put beside them.

        What another process is busy with stays; what cannot be removed is left for the next time.
        """
        for build in _folders(self._engines.folder):
            with contextlib.suppress(WeighbridgeError, OSError), self._alone(build.name):
                shutil.rmtree(build / _SCRATCH, ignore_errors=True)
                whole = [number for number in numbers(build) if (build / str(number) / NOTE).exists()]
                for number in numbers(build):
                    idle = user_of(build / str(number)) is None
                    if idle and number not in whole[-1:]:
                        shutil.rmtree(build / str(number), ignore_errors=True)
                    elif idle:
                        remove_older_hosts(build / str(number))
                with contextlib.suppress(OSError):
                    build.rmdir()  # where nothing is left in it

    def log_of(self, build_id: str) -> Path:
        """Where the log of the last installation of a build is."""
        return self._engines.folder / f"{build_id}.log"

    def _check(self, recipe: Recipe, wheels: Path | None) -> None:
        system = self._engines.system
        if not runs_on(recipe, system):
            title = self._engines.catalogue[recipe.engine_id].title
            raise Refused("build.not_for_system", title=recipe.title, engine=title, system=system.name)
        if wheels is None and self._offline():
            raise Refused("hub.offline")
        if wheels is not None and not wheels_in(wheels):
            raise BadFile("build.no_wheels", path=str(wheels))

    @contextlib.contextmanager
    def _alone(self, build_id: str) -> Iterator[None]:
        """One process at a time for one build."""
        try:
            self._engines.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._engines.folder / f"{build_id}.lock")
            taken = lock.take()
        except OSError as error:
            raise self._unwritable(error) from error
        if not taken:
            raise Refused("build.busy", build=build_id)
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def _log_of(self, build_id: str) -> Iterator[TextIO]:
        try:
            file = self.log_of(build_id).open("w", encoding="utf-8", errors="replace", buffering=1)
        except OSError as error:
            raise self._unwritable(error) from error
        with file:
            yield file

    def _place(self, build_id: str) -> Path:
        """The folder of the next environment; nothing of it is there yet."""
        build = self._engines.folder / build_id
        return build / str(max(numbers(build), default=0) + 1)

    def _fetch(self, recipe: Recipe, folder: Path, wheels: Path | None, task: Task, told: _Lines) -> None:
        scratch = folder.parent / _SCRATCH
        scratch.mkdir(parents=True, exist_ok=True)
        source = self._source(recipe, wheels)
        with self._noted(source):
            make = ["venv", str(folder), "--python", python_for(recipe.least_python), "--no-project"]
            if wheels is not None:
                make.append("--no-python-downloads")
            self._uv(recipe, make, source, scratch, task, told)
            asked = list(recipe.requirements) if wheels is None else requirements_from(recipe, wheels)
            into = ["--python", str(python_of(folder)), "--only-binary", ":all:", *source.arguments]
            self._uv(recipe, ["pip", "install", *into, *asked], source, scratch, task, told)

    @contextlib.contextmanager
    def _noted(self, source: Source) -> Iterator[None]:
        """Each host that is asked stands in the log of what leaves this machine, and how that ended."""
        lines = [self._network.begin(host, PURPOSE) for host in source.hosts]
        failed: str | None = "index.unreachable"
        try:
            yield
            failed = None
        except Cancelled:
            failed = CANCELLED
            raise
        finally:
            for line in lines:
                line.ended(None, failed)

    def _source(self, recipe: Recipe, wheels: Path | None) -> Source:
        if wheels is None:
            return from_indexes(self._engines.environment, recipe.index, recipe.torch)
        return from_wheels(self._engines.environment, wheels if wheels.is_dir() else wheels.parent)

    def _uv(
        self, recipe: Recipe, arguments: list[str], source: Source, scratch: Path, task: Task, told: _Lines
    ) -> None:
        environment = {**source.environment, "UV_PYTHON_INSTALL_DIR": str(self._engines.folder / "python")}
        why = run_uv(arguments, environment, scratch / "cache", task, PURPOSE, told.hear)
        if why is not None and any(full in line for line in told.last for full in _FULL):
            raise self._unwritable(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        if why is not None:
            log = str(self.log_of(recipe.id))
            raise EngineFailed("build.install_failed", told.last, build=recipe.id, reason=why, log_file=log)

    def _tried(self, recipe: Recipe, folder: Path, model: Model | None, task: Task, told: _Lines) -> Note:
        """What the new environment tells and does."""
        base = self._engines.catalogue[recipe.engine_id]
        engine = engine_in(folder, recipe.id, None, base)
        task.step(0, None, "devices")
        devices = self._devices_of(recipe, engine, task, told)
        token = None if model is None else self._token_of(recipe, engine, model, task, told)
        version, today = version_told(engine, self._asking(task)), date.today().isoformat()
        return Note(recipe.id, recipe.engine_id, recipe.title, version, devices, token, today)

    def _asking(self, task: Task) -> Ask:
        """How a child is asked for as long as `task` goes on: a sick driver may hold one for the whole time it has."""
        return self._engines.ask_child or partial(ask, check=task.check)

    def _devices_of(self, recipe: Recipe, engine: Engine, task: Task, told: _Lines) -> tuple[Device, ...]:
        answer = told_now(engine, ask_child=self._asking(task))
        if not answer.devices:
            reason = "-" if answer.problem is None else str(explain_code(answer.problem.code, answer.problem.values))
            log = str(self.log_of(recipe.id))
            raise EngineFailed("build.no_devices", told.last, build=recipe.id, reason=reason, log_file=log)
        for device in answer.devices:
            told.hear(f"device: {device.id} {device.name}")
        return answer.devices

    def _token_of(self, recipe: Recipe, engine: Engine, model: Model, task: Task, told: _Lines) -> bool | None:
        task.step(0, None, "token")
        try:
            written = writes_a_token(engine, model, self._engines.environment, task)
        except WeighbridgeError as error:
            for line in error.log if isinstance(error, EngineFailed) else ():
                told.hear(line)
            reason, log = str(explain_code(error.code, error.values)), str(self.log_of(recipe.id))
            raise EngineFailed("build.no_token", told.last, build=recipe.id, reason=reason, log_file=log) from error
        told.hear(f"token: {'written with' if written else 'not tried, for it cannot be read:'} {model.id}")
        return written or None

    def _put_to_use(self, recipe: Recipe, note: Note) -> Cause | None:
        cards = any(device.kind != "cpu" for device in note.devices or ())
        if recipe.api != "cpu" and not cards:
            return Cause("build.sees_no_card", {"build": recipe.id})
        self._engines.use(recipe.id)
        return None

    def _tidy(self, folder: Path) -> None:
        """What is not whole goes; so does what was only needed on the way."""
        shutil.rmtree(folder.parent / _SCRATCH, ignore_errors=True)
        if not (folder / NOTE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                folder.parent.rmdir()

    def _remove_older(self, folder: Path) -> None:
        for number in numbers(folder.parent):
            older = folder.parent / str(number)
            if older != folder and user_of(older) is None:
                shutil.rmtree(older, ignore_errors=True)

    def _delete(self, folder: Path) -> None:
        """The notes first: what is half removed is no build any more."""
        try:
            for number in numbers(folder):
                (folder / str(number) / NOTE).unlink(missing_ok=True)
            shutil.rmtree(folder)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> BadFile:
        path = error.filename or self._engines.folder
        return BadFile("build.unwritable", path=str(path), reason=error.strerror or str(error))


class _Lines:
    """Writes each line to the log and hands it on; keeps the last ones."""

    def __init__(self, file: TextIO, on_line: OnLine) -> None:
        self._file, self._on_line = file, on_line
        self._lines: list[str] = []

    @property
    def last(self) -> tuple[str, ...]:
        """As many as are shown with an error."""
        return tuple(self._lines[-30:])

    def hear(self, line: str) -> None:
        """One more."""
        self._lines.append(line)
        with contextlib.suppress(OSError, ValueError):  # a full disk is told by what comes next
            self._file.write(f"{time.strftime('%H:%M:%S')} {line}\n")
        self._on_line(line)


def wheels_in(path: Path) -> list[Path]:
    """The wheel at `path`, or the wheels in that folder."""
    if path.is_dir():
        return sorted(path.glob("*.whl"))
    return [path] if path.is_file() and path.suffix == ".whl" else []


def requirements_from(recipe: Recipe, wheels: Path) -> list[str]:
    """What to install where the wheels lie here: the one that was named, or what the build is made of."""
    if wheels.is_dir():
        return list(recipe.requirements)
    return [str(wheels.absolute())]


def user_of(place: Path) -> int | None:
    """A process that runs a program at or below `place`; None where there is none that we may see."""
    below = os.path.abspath(place)  # noqa: PTH100 - an environment's Python is a link out of it
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError, IndexError):
            program = process.cmdline()[0]
            if program == below or program.startswith(below + os.sep):
                return process.pid
    return None


def disk_bytes(build: Build) -> int | None:
    """What an environment takes on the disk; None for what is not ours to count. Looks at all its files."""
    return size_of(Path(build.place)) if build.kind is BuildKind.ENVIRONMENT else None


def _folders(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if entry.is_dir() and entry.name != "python"]
    except OSError:
        return []
