"""How engines and their builds look on the page: values made of what is known. Pure; no Qt here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from weighbridge.base.explain import explain_code
from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.hardware.machine import Machine
from weighbridge.running.builds import Build, BuildKind, Recipe, System
from weighbridge.running.choose import PREFERRED
from weighbridge.running.devices import Told
from weighbridge.running.installing import TRIAL, command_for
from weighbridge.ui.engines import words
from weighbridge_engines.api import Device, Engine

_NOT_INSTALLED = "engine.not_installed"
_COMMAND = "weighbridge engines"


class Act(StrEnum):
    """What can be done with a build."""

    INSTALL = "install"
    USE = "use"
    UPDATE = "update"
    WHEELS = "wheels"
    PROBE = "probe"
    LOG = "log"
    COPY = "copy"
    REMOVE = "remove"
    FORGET = "forget"


class BuildState(StrEnum):
    """How a build stands."""

    IN_USE = "in use"
    HERE = "installed"
    BROKEN = "cannot be used"
    CAN_BE = "can be installed"
    CANNOT_BE = "cannot be here"


@dataclass(frozen=True)
class Known:
    """All that is looked at: `engines` as the builds in use, `bytes_of` is what environments take, `told` what builds
    told when they were asked, `logs` which have a log of their installation. The last three by id of the build.
    """

    engines: Mapping[str, Engine]
    builds: Sequence[Build]
    recipes: Sequence[Recipe]
    system: System
    bytes_of: Mapping[str, int | None] = field(default_factory=dict)
    told: Mapping[str, Told] = field(default_factory=dict)
    logs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class BuildLook:
    """One build: `about` in one line, what it `sees`, what else is `said` of it, and what can be done with it."""

    id: str
    title: str
    state: BuildState
    about: str
    sees: str = ""
    said: str = ""
    untried: bool = False
    acts: tuple[Act, ...] = ()
    command: str = ""


@dataclass(frozen=True)
class EngineLook:
    """One engine. `others` are builds that are not for this machine."""

    id: str
    title: str
    formats: tuple[str, ...]
    cannot: str
    builds: tuple[BuildLook, ...]
    others: tuple[BuildLook, ...] = ()


def looks(known: Known, machine: Machine | None) -> tuple[EngineLook, ...]:
    """All engines; those of which a build can be used come first, and of these the ones that are tried first."""
    made = [_engine(engine, known, machine) for engine in known.engines.values() if engine.id != TRIAL]
    return tuple(sorted(made, key=_place))


def _place(look: EngineLook) -> tuple[bool, int]:
    unusable = all(one.state is not BuildState.IN_USE for one in look.builds)
    return unusable, PREFERRED.index(look.id) if look.id in PREFERRED else len(PREFERRED)


def _engine(engine: Engine, known: Known, machine: Machine | None) -> EngineLook:
    recipes = {recipe.id: recipe for recipe in known.recipes if recipe.engine_id == engine.id}
    here = [build for build in known.builds if build.engine_id == engine.id]
    absent = [recipe for recipe in recipes.values() if recipe.id not in {build.id for build in here}]
    offered = [_absent(recipe, known.system, machine) for recipe in absent]
    suited = [look for look in offered if look.state is BuildState.CAN_BE and not look.said]
    others = bool(suited) or len(here) > 1
    shown = [_here(build, engine, known, recipes) for build in here if not (others and _is_nothing(build))]
    return EngineLook(
        id=engine.id,
        title=engine.title,
        formats=tuple(sorted(engine.formats)),
        cannot=words.cannot_in_words(engine.capabilities),
        builds=(*sorted(shown, key=lambda look: look.state is not BuildState.IN_USE), *suited),
        others=tuple(look for look in offered if look not in suited),
    )


def _is_nothing(build: Build) -> bool:
    """The library that is not beside this program: no build, where another one is here or can be had."""
    return build.kind is BuildKind.OURS and build.missing is not None and build.missing.code == _NOT_INSTALLED


def _here(build: Build, engine: Engine, known: Known, recipes: Mapping[str, Recipe]) -> BuildLook:
    told = known.told.get(build.id)
    devices = build.devices if told is None else told.devices
    recipe = recipes.get(build.id)
    state, said = _state(build), _said(build, engine, told)
    return BuildLook(
        id=build.id,
        title=build.title or text("As it came with Weighbridge"),
        state=state,
        about=" · ".join(filter(None, _about(build, known.bytes_of.get(build.id), _licence(build, recipes)))),
        sees="" if devices is None and said else words.devices_in_words(devices),
        said=said,
        untried=recipe is not None and not recipe.verified and build.token is not True,
        acts=tuple(_acts(build, state, is_asked=_is_asked(build, devices), known=known, recipe=recipe)),
        command=_command(build, engine, state),
    )


def _state(build: Build) -> BuildState:
    if build.missing is not None:
        return BuildState.BROKEN
    return BuildState.IN_USE if build.in_use else BuildState.HERE


def _about(build: Build, disk_bytes: int | None, licence: str | None) -> list[str]:
    version = text("Version {version}", version=build.version) if build.version else ""
    disk = text("{size} on the disk", size=size(disk_bytes)) if disk_bytes is not None else ""
    licence_said = text("licence {licence}", licence=licence) if licence else ""
    day = text("installed on {day}", day=build.installed_on) if build.installed_on else ""
    if build.kind is BuildKind.PROGRAM:
        return [text("Your program"), version]
    return [version, disk, licence_said, day]


def _licence(build: Build, recipes: Mapping[str, Recipe]) -> str | None:
    """That of the wheel it came as; of the library beside this program, where all its wheels have one."""
    if build.id in recipes:
        return recipes[build.id].licence
    licences = {recipe.licence for recipe in recipes.values()}
    return licences.pop() if build.kind is BuildKind.OURS and len(licences) == 1 else None


def _is_asked(build: Build, devices: Sequence[Device] | None) -> bool:
    """A program that was only found on the search path has told nothing."""
    return build.kind is not BuildKind.PROGRAM or build.version is not None or devices is not None


def _said(build: Build, engine: Engine, told: Told | None) -> str:
    cause = build.missing or (told.problem if told is not None else None)
    if cause is not None:
        values = {"engine": engine.title, "install": command_for(engine), **cause.values}
        return str(explain_code(cause.code, values))
    if build.kind is BuildKind.ENVIRONMENT and build.token is None:
        return text("No model was here to try it with when it was installed.")
    return ""


def _acts(build: Build, state: BuildState, *, is_asked: bool, known: Known, recipe: Recipe | None) -> list[Act]:
    found = [Act.USE] if state is BuildState.HERE else []
    if recipe is not None:
        found.append(Act.INSTALL if state is BuildState.BROKEN else Act.UPDATE)
    if state is not BuildState.BROKEN:
        found.append(Act.PROBE)
    if build.id in known.logs:
        found.append(Act.LOG)
    found.append(Act.COPY)
    if build.kind is BuildKind.ENVIRONMENT:
        found.append(Act.REMOVE)
    if build.kind is BuildKind.PROGRAM and is_asked:
        found.append(Act.FORGET)
    return found


def _command(build: Build, engine: Engine, state: BuildState) -> str:
    if state is not BuildState.BROKEN:
        return f"{_COMMAND} use {build.id}"
    if build.kind is BuildKind.OURS:
        return command_for(engine)
    return f"{_COMMAND} install {build.id}" if build.kind is BuildKind.ENVIRONMENT else build.place


def _absent(recipe: Recipe, system: System, machine: Machine | None) -> BuildLook:
    foreign = words.why_not_here(recipe, system)
    about = [words.fetched_in_words(recipe), text("licence {licence}", licence=recipe.licence)]
    acts = () if foreign else (Act.INSTALL, Act.WHEELS, Act.COPY)
    return BuildLook(
        id=recipe.id,
        title=recipe.title,
        state=BuildState.CANNOT_BE if foreign else BuildState.CAN_BE,
        about=" · ".join(about),
        said=foreign or words.why_unsuited(recipe, machine),
        untried=not recipe.verified,
        acts=acts,
        command="" if foreign else f"{_COMMAND} install {recipe.id}",
    )
