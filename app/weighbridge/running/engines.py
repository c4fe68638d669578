"""All engines by id, each as the build that is in use: a live mapping, which other threads may read at any time.

It owns what is chosen and which programs were added (`chosen.json` below `<data>/engines`); what is installed it reads
from the folders, and which engines the user has described from a file beside the settings (`programs.toml`). Several
processes may share them: a change made by another is seen at the next `refresh`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weighbridge.base.errors import NotFound, Refused, WeighbridgeError
from weighbridge.base.listeners import Listeners
from weighbridge.base.small_files import read_small
from weighbridge.running.builds import Build, BuildKind, Listener, Offer, Recipe, System, offers
from weighbridge.running.described import Described
from weighbridge.running.installed import Environment, environments
from weighbridge.running.installing import TRIAL
from weighbridge.running.programs import ENGINE_ID, Program, engine_named, look_at, on_path, program_id
from weighbridge.running.questions import Ask
from weighbridge.running.recipes import recipes_here, this_system
from weighbridge_engines.api import Cause, Engine

FOLDER, FILE = "engines", "chosen.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Known:
    """A build with the engine over it; None for a program that was found and not asked yet."""

    build: Build
    engine: Engine | None


@dataclass(frozen=True)
class _State:
    """All of it at one moment."""

    in_use: Mapping[str, Engine]
    known: Mapping[str, _Known]


class Engines(Mapping[str, Engine]):
    """The engines of `catalogue`, and those that the file `own` describes, as the builds that are in use, by what is in
    `data`.

    `subscribe` tells of each change. `recipes` are the builds that can be installed; `system` is what they are chosen
    by. What is slow or may fail says so.
    """

    def __init__(
        self,
        catalogue: Mapping[str, Engine],
        data: Path,
        environment: Mapping[str, str] | None = None,
        recipes: Sequence[Recipe] | None = None,
        system: System | None = None,
        ask_child: Ask | None = None,
        own: Path | None = None,
    ) -> None:
        self._shipped = catalogue
        self._described = Described(own, catalogue)
        self.folder = data / FOLDER
        self.environment = os.environ if environment is None else environment
        self.system = system or this_system()
        told = recipes_here() if recipes is None else recipes
        self.recipes = tuple(recipe for recipe in told if recipe.engine_id in catalogue)
        self.catalogue: Mapping[str, Engine] = catalogue
        self.ask_child = ask_child
        self._lock = threading.RLock()
        self._listeners: Listeners[[]] = Listeners()
        self._chosen: dict[str, str] = {}
        self._programs: dict[str, Program] = {}
        self._read()
        self._state = self._looked()

    def __getitem__(self, engine_id: str) -> Engine:
        return self._state.in_use[engine_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.in_use)

    def __len__(self) -> int:
        return len(self._state.in_use)

    @property
    def problems(self) -> tuple[Cause, ...]:
        """What is wrong with what the user has described."""
        return self._described.problems

    @property
    def builds(self) -> tuple[Build, ...]:
        """All that is here, engine by engine: the one beside this program, environments, programs."""
        return tuple(known.build for known in self._state.known.values())

    @property
    def absent(self) -> tuple[Recipe, ...]:
        """The builds that could be installed on this system and are not here."""
        fitting = (recipe for recipe in self.recipes if self.system.name in recipe.systems)
        return tuple(recipe for recipe in fitting if recipe.id not in self._state.known)

    def offers(self) -> tuple[Offer, ...]:
        """What is not in use, and whose cards it would use."""
        return offers(self.builds, self.recipes, self.system)

    def recipe(self, build_id: str) -> Recipe:
        """The build `build_id` as it can be installed. Raises NotFound("build.unknown")."""
        for recipe in self.recipes:
            if recipe.id == build_id:
                return recipe
        raise NotFound("build.unknown", build=build_id, known=", ".join(recipe.id for recipe in self.absent) or "-")

    def build(self, name: str) -> Build:
        """The build that is here by id, or by the path of its program. Raises NotFound("build.not_here")."""
        path = os.path.abspath(name)  # noqa: PTH100 - a link stays the link that the user has named
        ids = (name, *(program_id(path, engine_id) for engine_id in self.catalogue))
        known = next((self._state.known[one] for one in ids if one in self._state.known), None)
        if known is None:
            here = (build_id for build_id in self._state.known if build_id != TRIAL)
            raise NotFound("build.not_here", build=name, known=", ".join(here))
        return known.build

    def engine_of(self, build_id: str) -> Engine:
        """The engine over a build that is here. A program that was found on PATH is asked first; see `add`."""
        build = self.build(build_id)
        if self._state.known[build.id].engine is None:
            self.add(Path(build.place), build.engine_id)
        engine = self._state.known[build.id].engine
        assert engine is not None
        return engine

    def use(self, build_id: str) -> None:
        """Use a build from now on; what runs, runs on. Raises NotFound("build.not_here"), EngineFailed where it is
        missing, and what `add` raises for a program that has not been asked yet. OSError where it cannot be kept.
        """
        engine = self.engine_of(build_id)
        missing = engine.missing()
        build = self.build(build_id)
        if missing is not None:
            raise Refused(missing.code, **{"engine": build.engine_title, "install": engine.install, **missing.values})
        with self._lock:
            self._chosen[build.engine_id] = build.id
            self._write()
        self.refresh(told=True)

    def add(self, path: Path, engine_id: str | None = None) -> Build:
        """Take in a server program of the user's, of the engine `engine_id` (None: as its name tells); it is asked what
        it is, which takes seconds at most.

        Raises what `programs.look_at` raises, Refused("program.not_known_as") where `engine_id` is none that has
        programs, and OSError where it cannot be kept.
        """
        of = engine_id or engine_named(path, self.catalogue.values())
        base = self.catalogue.get(of)
        if of != ENGINE_ID and (base is None or base.placed is None):
            known = [ENGINE_ID, *(one.id for one in self.catalogue.values() if one.placed is not None)]
            raise Refused("program.not_known_as", path=str(path), known=", ".join(known))
        program = look_at(path, self.environment, self.ask_child, base)
        with self._lock:
            self._programs[program.path] = program
            self._write()
        self.refresh(told=True)
        return self.build(program.id)

    def forget(self, build_id: str) -> None:
        """Take a program off the list; its file is not touched. Without effect for what is no added program."""
        with self._lock:
            self._programs = {path: one for path, one in self._programs.items() if one.id != build_id}
            self._chosen = {engine: build for engine, build in self._chosen.items() if build != build_id}
            self._write()
        self.refresh(told=True)

    def refresh(self, *, told: bool = False) -> None:
        """Look again at what is here; whoever subscribed is told where something changed, or where `told`."""
        with self._lock:
            self._read()
            before, self._state = self._state, self._looked()
            changed = told or [one.build for one in before.known.values()] != list(self.builds)
        if changed:
            self._listeners.tell()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called after each change, in the thread that made or saw it. Returns what ends that."""
        return self._listeners.add(listener)

    def _looked(self) -> _State:
        self.catalogue = {**self._shipped, **self._described.engines()}
        found = [known for engine in self.catalogue.values() for known in self._of(engine)]
        by_id = {known.build.id: known for known in found}
        in_use: dict[str, Engine] = {}
        for engine_id, engine in self.catalogue.items():
            chosen = self._in_use(engine_id, by_id)
            known = by_id[chosen]
            in_use[engine_id] = known.engine or engine
            by_id[chosen] = replace(known, build=replace(known.build, in_use=True))
        return _State(in_use, by_id)

    def _in_use(self, engine_id: str, known: Mapping[str, _Known]) -> str:
        """What the user has chosen; else ours, where it is here; else the first that is here."""
        chosen = self._chosen.get(engine_id, "")
        if chosen in known and known[chosen].engine is not None:
            return chosen
        usable = (
            build_id
            for build_id, one in known.items()
            if one.build.engine_id == engine_id and one.engine is not None and one.build.missing is None
        )
        return next(usable, engine_id)

    def _of(self, engine: Engine) -> Iterator[_Known]:
        ours = _build(engine, engine, engine.id, "", BuildKind.OURS, "")
        yield _Known(ours, engine)
        for one in environments(self.folder):
            if one.note.engine_id == engine.id:
                yield _in_environment(one, engine)
        if engine.id == ENGINE_ID or engine.placed is not None:
            yield from self._programs_here(engine)

    def _programs_here(self, base: Engine) -> Iterator[_Known]:
        for program in self._programs.values():
            if program.engine_id != base.id:
                continue
            engine = program.engine(base)
            build = _build(base, engine, program.id, program.path, BuildKind.PROGRAM, program.path)
            yield _Known(replace(build, devices=program.devices), engine)
        found = self._on_path(base)
        if found is not None and found not in self._programs:
            build = _build(base, base, program_id(found, base.id), found, BuildKind.PROGRAM, found)
            yield _Known(replace(build, version=None, missing=None), None)

    def _on_path(self, base: Engine) -> str | None:
        """What the user has described is where it says; a script in a folder is on no path."""
        if base.id == ENGINE_ID:
            return on_path(self.environment)
        if base.yours or "." in base.known_as:
            return None
        found = on_path(self.environment, base.known_as)
        return None if found is None or Path(found).parent == Path(sys.executable).parent else found

    def _read(self) -> None:
        """What cannot be read is as if nothing were chosen. A program that is another by now is asked anew."""
        try:
            values = json.loads(read_small(self.folder / FILE))
            chosen = {str(engine): str(build) for engine, build in values["use"].items()}
            programs = [Program.from_json(one) for one in values["programs"]]
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return
        self._chosen = chosen
        self._programs = {one.path: self._asked_anew(one) if one.changed else one for one in programs}

    def _asked_anew(self, program: Program) -> Program:
        """As it is now; as it was, where it is gone or cannot tell: then its next start says why."""
        try:
            return look_at(Path(program.path), self.environment, self.ask_child, self.catalogue.get(program.engine_id))
        except WeighbridgeError as error:
            _log.info("%s was not asked anew: %s", program.path, error)
            return program

    def _write(self) -> None:
        values: dict[str, Any] = {"use": self._chosen, "programs": [one.as_json() for one in self._programs.values()]}
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.folder / f"{FILE}.new"
        beside.write_text(json.dumps(values), encoding="utf-8")
        beside.replace(self.folder / FILE)


def _in_environment(one: Environment, base: Engine) -> _Known:
    engine, note = one.engine(base), one.note
    build = _build(base, engine, note.build_id, note.title, BuildKind.ENVIRONMENT, str(one.folder))
    found = replace(build, devices=note.devices, token=note.token, installed_on=note.installed_on)
    return _Known(found, engine)


def _build(base: Engine, engine: Engine, build_id: str, title: str, kind: BuildKind, place: str) -> Build:
    return Build(
        id=build_id,
        engine_id=base.id,
        engine_title=base.title,
        title=title,
        kind=kind,
        place=place,
        version=engine.version(),
        in_use=False,
        formats=tuple(sorted(base.formats)),
        missing=engine.missing(),
    )


def offers_among(engines: Mapping[str, Engine]) -> tuple[Offer, ...]:
    """The offers of a live mapping; of a plain one there are none."""
    return engines.offers() if isinstance(engines, Engines) else ()


def live(engines: Mapping[str, Engine], data: Path, own: Path | None = None) -> Engines:
    """`engines` as a live mapping over `data`, with those that the file `own` describes."""
    return engines if isinstance(engines, Engines) else Engines(engines, data, own=own)
