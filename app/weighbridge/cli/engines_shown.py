"""Engines and their builds, and what they would use of this machine: as text and as JSON, in the window's order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from weighbridge.base.explain import explain_code
from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.choices import engine_words
from weighbridge.choices.build_words import devices_in_words, kind_in_words, recipe_in_words, state_in_words
from weighbridge.choices.engine_order import Standing, in_order, is_not_installed, shown_engines, standing
from weighbridge.cli.json_words import cause_as_json
from weighbridge.cli.table import table
from weighbridge.hardware.detect import detect
from weighbridge.hardware.machine import Machine
from weighbridge.running.builds import Build, BuildKind, Recipe, System
from weighbridge.running.devices import EngineDevices, Told, missing_build, with_engines_here
from weighbridge.running.engines import Engines
from weighbridge.running.installation import disk_bytes
from weighbridge.running.installing import command_for
from weighbridge.running.load_settings import command_line
from weighbridge_engines.api import Capability, Cause, Engine, Load


@dataclass(frozen=True)
class Shown:
    """What there is to show, all in order. `standings` by the id of the engine, `bytes_of` is what environments take,
    by that of the build; `lacking` is what cards here lack, `problems` what is wrong with engines that the user has
    described.
    """

    engines: tuple[Engine, ...]
    standings: dict[str, Standing]
    builds: tuple[Build, ...]
    absent: tuple[Recipe, ...]
    bytes_of: dict[str, int | None]
    lacking: tuple[Cause, ...]
    problems: tuple[Cause, ...]
    system: System
    machine: Machine


def look(engines: Engines, data: Path) -> Shown:
    """Look at the machine, and ask the builds that have not told their devices."""
    devices = EngineDevices(engines, data)
    machine, told = with_engines_here(detect(), devices)
    able = shown_engines(engines)
    standings = {
        engine.id: standing(engine, engines.builds, engines.recipes, engines.system, machine) for engine in able
    }
    ordered = tuple(in_order(able, standings))
    places = [engine.id for engine in ordered]
    builds = [_told(build, engines, devices, machine, told) for build in engines.builds if build.engine_id in places]
    return Shown(
        engines=ordered,
        standings=standings,
        builds=tuple(sorted(builds, key=lambda build: places.index(build.engine_id))),
        absent=tuple(sorted(engines.absent, key=lambda recipe: places.index(recipe.engine_id))),
        bytes_of={build.id: disk_bytes(build) for build in builds},
        lacking=tuple(cause for device in machine.devices if (cause := missing_build(device, told)) is not None),
        problems=engines.problems,
        system=engines.system,
        machine=machine,
    )


def _told(build: Build, engines: Engines, devices: EngineDevices, machine: Machine, told: Iterable[Told]) -> Build:
    """`build` with the devices that it tells now, where it told none as it came."""
    known = build.devices
    in_use = {one.engine_id: one for one in told}
    if known is None and build.in_use and build.engine_id in in_use:
        known = in_use[build.engine_id].devices
    elif known is None and build.kind is BuildKind.OURS and build.missing is None:
        known = devices.told_by(engines.engine_of(build.id), machine).devices
    missing = build.missing and _told_whole(build.missing, engines.engine_of(build.id))
    return replace(build, devices=known, missing=missing)


def _told_whole(missing: Cause, engine: Engine) -> Cause:
    """What is missing, with all that its sentences name."""
    named = {"engine": engine.title, "install": command_for(engine, anew=missing.code == "engine.not_loadable")}
    return Cause(missing.code, {**named, **missing.values})


def as_text(shown: Shown) -> str:
    """What is here, what there is for this machine and for others, and a sentence for each thing that is amiss."""
    here = [build for build in shown.builds if not is_not_installed(build)]
    suited = [recipe for recipe in shown.absent if not _why_not(recipe, shown)]
    others = [recipe for recipe in shown.absent if _why_not(recipe, shown)]
    parts = [_here_as_text(here, shown), _suited_as_text(suited, shown), _others_as_text(others, shown)]
    sentences = [str(explain_code(cause.code, cause.values)) for cause in _causes(shown)]
    return "\n\n".join(filter(None, (*parts, "\n".join(sentences))))


def _here_as_text(builds: list[Build], shown: Shown) -> str:
    head = [
        text("build"), text("engine"), text("state"), text("version"), text("formats"), text("can use"), text("disk"),
        text("where"),
    ]  # fmt: skip
    return table(head, [_row(build, shown.bytes_of.get(build.id)) for build in builds], right=(6,)) if builds else ""


def _suited_as_text(recipes: list[Recipe], shown: Shown) -> str:
    if not recipes:
        return ""
    head = [
        text("build"), text("engine"), text("what"), text("formats"), text("download"), text("licence"), text("from"),
    ]  # fmt: skip
    rows = [_absent_row(recipe, _engine_of(recipe, shown)) for recipe in recipes]
    said = text("For this machine, to be had with weighbridge engines install BUILD:")
    return f"{said}\n{table(head, rows, right=(4,))}"


def _others_as_text(recipes: list[Recipe], shown: Shown) -> str:
    if not recipes:
        return ""
    head = [text("build"), text("engine"), text("what"), text("why not here")]
    rows = [
        [recipe.id, _engine_of(recipe, shown).title, recipe_in_words(recipe), _why_not(recipe, shown)]
        for recipe in recipes
    ]
    return "\n".join((text("For other machines:"), table(head, rows)))


def engine_as_text(engine: Engine, shown: Shown) -> str:
    """All that is known of one engine, and its builds."""
    cannot = engine_words.cannot_in_words(engine.capabilities)
    reads = text("It reads {formats}.", formats=_formats(engine.formats))
    only = replace(
        shown,
        builds=tuple(build for build in shown.builds if build.engine_id == engine.id),
        absent=tuple(recipe for recipe in shown.absent if recipe.engine_id == engine.id),
        lacking=(),
        problems=(),
    )
    needs = {words for recipe in only.absent for words in _needs(recipe)}
    told = (engine.title, reads, cannot, *engine_words.notes_in_words(engine), *sorted(needs), *_started_as(engine))
    return "\n".join(filter(None, told)) + f"\n\n{as_text(only)}"


def _started_as(engine: Engine) -> Iterable[str]:
    """What is run for a model, of an engine that is a program: to be seen before it is run for the first time."""
    said = command_line(Load("MODEL", "NAME"), engine) if engine.placed is not None else None
    return () if said is None else (text("It is started as: {command}", command=said),)


def as_json(shown: Shown) -> dict[str, Any]:
    """All of it."""
    return {
        "engines": [engine_as_json(engine, shown) for engine in shown.engines],
        "builds": [build_as_json(build, shown.bytes_of.get(build.id)) for build in shown.builds],
        "installable": [asdict(recipe) for recipe in shown.absent],
        "lacking": [cause_as_json(cause) for cause in shown.lacking],
        "problems": [cause_as_json(cause) for cause in shown.problems],
    }


def engine_as_json(engine: Engine, shown: Shown) -> dict[str, Any]:
    """One engine, as the window has it on its card."""
    return {
        "id": engine.id,
        "title": engine.title,
        "standing": shown.standings[engine.id].value,
        "formats": sorted(engine.formats),
        "can": sorted(engine.capabilities),
        "cannot": sorted(set(Capability) - engine.capabilities),
        "notes": list(engine_words.notes_in_words(engine)),
        "archived": engine.id in engine_words.ARCHIVED,
    }


def build_as_json(build: Build, on_disk_bytes: int | None) -> dict[str, Any]:
    """One build."""
    values = asdict(build)
    values["missing"] = build.missing and cause_as_json(build.missing)
    return {**values, "disk_bytes": on_disk_bytes}


def _causes(shown: Shown) -> list[Cause]:
    """Of an engine that can be installed it is not amiss that it is not here."""
    offered = {recipe.engine_id for recipe in shown.absent}
    missing = [
        build.missing
        for build in shown.builds
        if build.missing is not None and not (is_not_installed(build) and build.engine_id in offered)
    ]
    return [*missing, *shown.lacking, *shown.problems]


def _engine_of(recipe: Recipe, shown: Shown) -> Engine:
    return next(engine for engine in shown.engines if engine.id == recipe.engine_id)


def _why_not(recipe: Recipe, shown: Shown) -> str:
    foreign = engine_words.why_not_here(recipe, shown.system)
    return foreign or engine_words.why_unsuited(recipe, shown.machine)


def _needs(recipe: Recipe) -> tuple[str, ...]:
    told = (engine_words.needs_in_words(recipe), engine_words.untried_in_words(recipe))
    return tuple(f"{recipe.id}: {words}" for words in told if words)


def _formats(formats: Iterable[str]) -> str:
    return ", ".join(map(engine_words.format_in_words, sorted(formats)))


def _row(build: Build, on_disk_bytes: int | None) -> list[str]:
    return [
        build.id,
        build.engine_title,
        state_in_words(build),
        build.version or "-",
        _formats(build.formats),
        "-" if build.missing is not None else devices_in_words(build.devices),
        "-" if on_disk_bytes is None else size(on_disk_bytes),
        build.place or kind_in_words(build.kind),
    ]


def _absent_row(recipe: Recipe, engine: Engine) -> list[str]:
    fetched = "-" if recipe.download_bytes is None else size(recipe.download_bytes)
    licence = engine_words.licences_in_words(recipe.licence)
    place = recipe.index or text("package index")
    return [recipe.id, engine.title, recipe_in_words(recipe), _formats(engine.formats), fetched, licence, place]
