"""How engines and their builds look on the page: values made of what is known. Pure; no Qt here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from weighbridge.base.explain import explain_code
from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.choices import engine_words
from weighbridge.choices.engine_order import Standing, in_order, is_not_installed, shown_engines, standing
from weighbridge.hardware.machine import Machine
from weighbridge.running.builds import Build, BuildKind, Recipe, System
from weighbridge.running.devices import Told
from weighbridge.running.installing import command_for
from weighbridge.ui.engines import words
from weighbridge_engines.api import Device, Engine

_COMMAND = "weighbridge engines"


class Act(StrEnum):
    """What can be done with a build."""

    INSTALL = "install"
    OWN = "own"
    USE = "use"
    UPDATE = "update"
    NEWER = "newer"
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
    ABSENT = "not installed"
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
    """One build: `about` in one line, what it `sees`, what it `needs` besides, what is `said` of why it is as it is,
    and what can be done with it.
    """

    id: str
    title: str
    state: BuildState
    about: str
    sees: str = ""
    needs: str = ""
    said: str = ""
    untried: bool = False
    acts: tuple[Act, ...] = ()
    command: str = ""


@dataclass(frozen=True)
class EngineLook:
    """One engine, by its `standing` here. `builds` are those that are here and the one to have first, `others` all
    that could be had besides, of which `suited` are for this machine. `notes` are what should be known before it is
    used; `archived`: its own project has ended.
    """

    id: str
    title: str
    standing: Standing
    formats: tuple[str, ...]
    cannot: str
    builds: tuple[BuildLook, ...]
    others: tuple[BuildLook, ...] = ()
    suited: int = 0
    notes: tuple[str, ...] = ()
    archived: bool = False


def looks(known: Known, machine: Machine | None) -> tuple[EngineLook, ...]:
    """All engines: those that are here, those that suit `machine`, the rest; and of these as they are tried."""
    engines = shown_engines(known.engines)
    standings = {engine.id: standing(engine, known.builds, known.recipes, known.system, machine) for engine in engines}
    return tuple(_engine(engine, standings[engine.id], known, machine) for engine in in_order(engines, standings))


def _engine(engine: Engine, place: Standing, known: Known, machine: Machine | None) -> EngineLook:
    recipes = {recipe.id: recipe for recipe in known.recipes if recipe.engine_id == engine.id}
    here = [build for build in known.builds if build.engine_id == engine.id]
    absent = [recipe for recipe in recipes.values() if recipe.id not in {build.id for build in here}]
    offered = [_absent(recipe, known.system, machine) for recipe in absent]
    fitting = [look for look in offered if look.state is BuildState.CAN_BE and not look.said]
    suited = sorted(fitting, key=lambda look: recipes[look.id].api == "cpu")
    instead = bool(offered) or len(here) > 1
    shown = [_here(build, engine, known, recipes) for build in here if not (instead and is_not_installed(build))]
    first = (suited or offered)[:1] if not shown else suited[:1] if _adds(suited, here, known, recipes) else []
    others = [look for look in (*suited, *(look for look in offered if look not in suited)) if look not in first]
    return EngineLook(
        id=engine.id,
        title=engine.title,
        standing=place,
        formats=tuple(sorted(engine.formats)),
        cannot=engine_words.cannot_in_words(engine.capabilities),
        builds=(*sorted(shown, key=lambda look: look.state is not BuildState.IN_USE), *first),
        others=tuple(others),
        suited=len([look for look in others if look in suited]),
        notes=engine_words.notes_in_words(engine),
        archived=engine.id in engine_words.ARCHIVED,
    )


def _adds(suited: Sequence[BuildLook], here: Sequence[Build], known: Known, recipes: Mapping[str, Recipe]) -> bool:
    """Whether the first of `suited` is for a card, and nothing that is here sees any."""
    told = [known.told[build.id].devices if build.id in known.told else build.devices for build in here]
    sees_card = any(device.kind != "cpu" for devices in told for device in devices or ())
    return bool(suited) and recipes[suited[0].id].api != "cpu" and not sees_card


def _here(build: Build, engine: Engine, known: Known, recipes: Mapping[str, Recipe]) -> BuildLook:
    told = known.told.get(build.id)
    devices = build.devices if told is None else told.devices
    recipe = recipes.get(build.id)
    state, said = _state(build), _said(build, engine, told)
    return BuildLook(
        id=build.id,
        title=build.title or (text("Your own copy") if state is BuildState.ABSENT else text("With Weighbridge")),
        state=state,
        about=" · ".join(filter(None, _about(build, known.bytes_of.get(build.id), _licence(build, recipes)))),
        sees="" if state is BuildState.BROKEN or (devices is None and said) else words.devices_in_words(devices),
        said=said,
        untried=recipe is not None and not recipe.verified and build.token is not True,
        acts=(
            *((Act.OWN,) if state is BuildState.ABSENT and engine.placed is not None else ()),
            *_acts(build, state, is_asked=_is_asked(build, devices), known=known, recipe=recipe),
        ),
        command=_command(build, engine, state),
    )


def _state(build: Build) -> BuildState:
    if is_not_installed(build):
        return BuildState.ABSENT
    if build.missing is not None:
        return BuildState.BROKEN
    return BuildState.IN_USE if build.in_use else BuildState.HERE


def _about(build: Build, disk_bytes: int | None, licence: str | None) -> list[str]:
    version = text("Version {version}", version=build.version) if build.version else ""
    disk = text("{size} on the disk", size=size(disk_bytes)) if disk_bytes is not None else ""
    licence_said = engine_words.licence_in_words(licence) if licence else ""
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
        return text("No model was here that it could be tried with when it was installed.")
    return ""


def _acts(build: Build, state: BuildState, *, is_asked: bool, known: Known, recipe: Recipe | None) -> list[Act]:
    found = [Act.USE] if state is BuildState.HERE else []
    unusable = state in (BuildState.BROKEN, BuildState.ABSENT)
    if recipe is not None:
        found += [Act.INSTALL] if unusable else [Act.NEWER, Act.UPDATE]
    if not unusable:
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
    if state not in (BuildState.BROKEN, BuildState.ABSENT):
        return f"{_COMMAND} use {build.id}"
    if build.kind is BuildKind.OURS:
        return command_for(engine)
    return f"{_COMMAND} install {build.id}" if build.kind is BuildKind.ENVIRONMENT else build.place


def _absent(recipe: Recipe, system: System, machine: Machine | None) -> BuildLook:
    foreign = engine_words.why_not_here(recipe, system)
    about = [engine_words.fetched_in_words(recipe), engine_words.licence_in_words(recipe.licence)]
    known_of = (engine_words.needs_in_words(recipe), engine_words.untried_in_words(recipe))
    acts = () if foreign else (Act.INSTALL, Act.WHEELS, Act.COPY)
    return BuildLook(
        id=recipe.id,
        title=recipe.title,
        state=BuildState.CANNOT_BE if foreign else BuildState.CAN_BE,
        about=" · ".join(about),
        needs=" ".join(filter(None, known_of)),
        said=foreign or engine_words.why_unsuited(recipe, machine),
        untried=not recipe.verified,
        acts=acts,
        command="" if foreign else f"{_COMMAND} install {recipe.id}",
    )
