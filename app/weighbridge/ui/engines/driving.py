"""The builds of engines as the window drives them: looked at, installed, chosen, asked, removed; off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.build_trial import trial_model
from weighbridge.running.builds import Build, BuildKind
from weighbridge.running.devices import EngineDevices, Told
from weighbridge.running.engines import Engines
from weighbridge.running.installation import Installer, Outcome, disk_bytes
from weighbridge.running.programs import engine_named
from weighbridge.ui.background import Background
from weighbridge.ui.engines import telling
from weighbridge.ui.engines.installation import Installation, Said
from weighbridge.ui.engines.looks import Act, Known
from weighbridge.ui.impatient import impatient
from weighbridge.ui.machine_facts import MachineFacts


class EngineBuilds(QObject):
    """`changed` is emitted in the GUI thread where something is to be shown anew, `said` tells a `Said` after something
    was done. One installation at a time. All else of the window that asks engines is told of another build by `facts`.
    """

    changed = Signal()
    said = Signal(object)
    _touched = Signal()

    def __init__(
        self,
        engines: Engines,
        installer: Installer,
        devices: EngineDevices,
        facts: MachineFacts,
        machine: Callable[[], Machine | None],
        models: Callable[[], Sequence[Model]],
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.engines = engines
        self.facts = facts
        self.machine = machine
        self.known: Known | None = None
        self.installation: Installation | None = None
        self.doing: Mapping[str, Act] = {}
        self.errors: Mapping[str, BaseException] = {}
        self.logs: Mapping[str, Sequence[str]] = {}
        self._installer, self._devices = installer, devices
        self._models = models
        self._background = background
        self._sizes: dict[str, int | None] = {}
        self._asked: Mapping[str, Told] = {}
        self._looking = self._again = self._closed = False
        self._touched.connect(self.look, Qt.ConnectionType.QueuedConnection)
        self._leave = engines.subscribe(self._touched.emit)

    def close(self) -> None:
        """Hear no more of changes, and look at nothing more."""
        self._closed = True
        self._leave()

    def look(self) -> None:
        """Look at what is here: folders, programs, sizes."""
        self._again = self._looking
        if not self._looking and not self._closed:
            self._looking = True
            self._background.stream(
                lambda task: impatient(self._look, task, "look at engines"), self._looked, self._not_looked, "engines"
            )

    def install(self, build_id: str, wheels: Path | None = None) -> None:
        """Install a build, or install it anew, and use it. From `wheels` nothing is fetched."""
        if self.installation is not None:
            return
        made = self.installation = Installation(build_id)
        self._forget_error(build_id)
        model = trial_model(self._models(), self.engines.catalogue[self.engines.recipe(build_id).engine_id])

        def work(task: Task) -> Outcome:
            return self._installer.install(build_id, task, model=model, wheels=wheels, on_line=made.lines.append)

        made.task = self._background.stream(work, self._installed, partial(self._not_installed, build_id), "install")
        self.changed.emit()

    def look_for_newer(self, build_id: str) -> None:
        """Ask the package index for a newer version of a build that is installed."""
        build = self.engines.build(build_id)

        def told(newer: str | None) -> None:
            update = ((text("Update it"), partial(self.install, build_id)),) if newer is not None else ()
            self.said.emit(Said(telling.newer_in_words(build, newer), update))

        self._do(build_id, Act.NEWER, lambda task: self._installer.newer(build_id, task), told)

    def use(self, build_id: str) -> None:
        """Use a build from now on; a program that was only found is asked first."""
        before = next((one.id for one in self._of_same(build_id) if one.in_use and one.missing is None), None)
        self._do(build_id, Act.USE, lambda _task: self.engines.use(build_id), lambda _: self._used(build_id, before))

    def remove(self, build_id: str) -> None:
        """Delete an environment, or take a program off the list."""
        build = self.engines.build(build_id)
        act = Act.FORGET if build.kind is BuildKind.PROGRAM else Act.REMOVE
        self._do(build_id, act, lambda _task: self._installer.remove(build_id), lambda _: self._removed(build))

    def probe(self, build_id: str) -> None:
        """Ask a build anew what it can compute on."""
        machine = self.machine()
        if machine is not None:
            self._do(build_id, Act.PROBE, lambda _task: self._ask(build_id, machine), self._probed)

    def add(self, path: Path, engine_id: str | None = None) -> None:
        """Take in a program of the user's, of that engine (None: as its name tells), and try it; it is used where the
        user says so.
        """
        of = engine_id or engine_named(path, self.engines.catalogue.values())
        model = trial_model(self._models(), self.engines.catalogue[of])

        def added(build: Build) -> None:
            self.said.emit(Said(telling.added_in_words(build, tried=model is not None)))

        task = self._do(
            str(path),
            Act.INSTALL,
            lambda task: self._installer.add(path, task, model=model, use=False, engine_id=of),
            added,
        )
        if task is not None:
            said = text("Asking {path} what it is, and trying it…", path=path)
            self.said.emit(Said(said, ((text("Cancel"), task.cancel),)))

    def read_log(self, build_id: str) -> None:
        """Have the log of the last installation in `logs`."""

        def read(_task: Task) -> list[str]:
            return self._installer.log_of(build_id).read_text("utf-8", "replace").splitlines()

        self._do(build_id, Act.LOG, read, lambda lines: self._keep_log(build_id, lines))

    def close_log(self, build_id: str) -> None:
        """It was folded."""
        self.logs = {one: lines for one, lines in self.logs.items() if one != build_id}
        self.changed.emit()

    def _do(self, name: str, act: Act, work: Callable[[Task], object], done: Callable[..., object]) -> Task | None:
        """Do `work` for `name`, one thing at a time for each; None where another one goes on."""
        if name in self.doing:
            return None
        self.doing = {**self.doing, name: act}
        self._forget_error(name)

        def ended(found: object) -> None:
            self._end(name)
            done(found)
            self.look()

        task = self._background.stream(
            lambda task: impatient(lambda: work(task), task, f"engine {act}"), ended, partial(self._failed, name), act
        )
        self.changed.emit()
        return task

    def _end(self, name: str) -> None:
        self.doing = {one: act for one, act in self.doing.items() if one != name}
        self.changed.emit()

    def _failed(self, name: str, error: BaseException) -> None:
        if self.doing.get(name) is Act.INSTALL:
            self.said.emit(Said(""))  # that a program is being asked
        self._end(name)
        self._keep_error(self._named(name), error)

    def _look(self) -> Known:
        self.engines.refresh()
        builds = self.engines.builds
        machine, asked = self.machine(), dict(self._asked)
        for build in builds:
            if build.place not in self._sizes:
                self._sizes[build.place] = disk_bytes(build)
            if machine is not None and _tells(build) and _key(build) not in asked:
                asked[_key(build)] = self._devices.told_by(self.engines.engine_of(build.id), machine)
        logs = frozenset(build.id for build in builds if self._installer.log_of(build.id).exists())
        return Known(
            engines=dict(self.engines),
            builds=builds,
            recipes=self.engines.recipes,
            system=self.engines.system,
            bytes_of={build.id: self._sizes[build.place] for build in builds},
            told={build.id: asked[_key(build)] for build in builds if _key(build) in asked},
            logs=logs,
        )

    def _looked(self, known: Known) -> None:
        before, self.known = self.known, known
        self._asked = {**{_key(one): known.told[one.id] for one in known.builds if one.id in known.told}, **self._asked}
        if before is not None and _in_use(before) != _in_use(known):
            self.facts.ask_again()
        self._looked_once()

    def _not_looked(self, error: BaseException) -> None:
        self._keep_error("", error)
        self._looked_once()

    def _looked_once(self) -> None:
        self._looking = False
        self.changed.emit()
        if self._again:
            self.look()

    def _installed(self, outcome: Outcome) -> None:
        self.installation = None
        self.said.emit(Said(telling.installed_in_words(outcome)))
        self.facts.ask_again()
        self.look()

    def _not_installed(self, build_id: str, error: BaseException) -> None:
        self.installation = None
        self._keep_error(build_id, error)
        self.look()

    def _used(self, build_id: str, before: str | None) -> None:
        undo = ((text("Undo"), partial(self.use, before)),) if before not in (None, build_id) else ()
        self.said.emit(Said(telling.used_in_words(self.engines.build(build_id)), undo))

    def _removed(self, build: Build) -> None:
        is_program = build.kind is BuildKind.PROGRAM
        undo = ((text("Undo"), partial(self.add, Path(build.place), build.engine_id)),) if is_program else ()
        self.said.emit(Said(telling.removed_in_words(build), undo))

    def _ask(self, build_id: str, machine: Machine) -> tuple[Build, Told]:
        told = self._devices.told_anew(self.engines.engine_of(build_id), machine)
        return self.engines.build(build_id), told  # a program that was only found is another build by now

    def _probed(self, found: tuple[Build, Told]) -> None:
        build, told = found
        self._asked = {**self._asked, _key(build): told}
        self.facts.ask_again()

    def _keep_log(self, build_id: str, lines: Sequence[str]) -> None:
        self.logs = {**self.logs, build_id: lines}

    def _of_same(self, build_id: str) -> list[Build]:
        engine_id = self.engines.build(build_id).engine_id
        return [one for one in self.engines.builds if one.engine_id == engine_id]

    def _keep_error(self, name: str, error: BaseException) -> None:
        if not isinstance(error, Cancelled):
            self.errors = {**self.errors, name: error}
        self.changed.emit()

    def forget_error(self, build_id: str) -> None:
        """What stood in the way of it is gone."""
        self._forget_error(build_id)
        self.changed.emit()

    def _forget_error(self, name: str) -> None:
        gone = {name, self._named(name)}
        self.errors = {one: error for one, error in self.errors.items() if one not in gone}

    def _named(self, name: str) -> str:
        """A program that is here by its build's id, whatever it was called by; else `name`."""
        return next((build.id for build in self.engines.builds if build.place == name), name)


def _tells(build: Build) -> bool:
    """Whether it is asked as it is seen: what came with this program. Others told as they came, or wait to be asked."""
    return build.kind is BuildKind.OURS and build.missing is None


def _key(build: Build) -> str:
    """Another place for each installation."""
    return build.place or build.id


def _in_use(known: Known) -> set[str]:
    return {build.id for build in known.builds if build.in_use}
