"""Builds of engines, and what they would use of this machine, as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from weighbridge.base.explain import explain_code
from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.choices.build_words import devices_in_words, kind_in_words, recipe_in_words, state_in_words
from weighbridge.cli.json_words import cause_as_json
from weighbridge.cli.table import table
from weighbridge.hardware.detect import detect
from weighbridge.running.builds import Build, BuildKind, Recipe
from weighbridge.running.devices import EngineDevices, missing_build, with_engines_here
from weighbridge.running.engines import Engines
from weighbridge.running.installation import disk_bytes
from weighbridge.running.installing import TRIAL, command_for
from weighbridge_engines.api import Cause, Engine


@dataclass(frozen=True)
class Shown:
    """What there is to show. `bytes_of` is what environments take, by id; `lacking` what cards here lack."""

    builds: tuple[Build, ...]
    absent: tuple[Recipe, ...]
    bytes_of: dict[str, int | None]
    lacking: tuple[Cause, ...]


def look(engines: Engines, data: Path) -> Shown:
    """Look at the machine, and ask the builds that have not told their devices."""
    devices = EngineDevices(engines, data)
    machine, told = with_engines_here(detect(), devices)
    by_engine = {one.engine_id: one for one in told}
    builds = []
    for build in engines.builds:
        known = build.devices
        if known is None and build.in_use and build.engine_id in by_engine:
            known = by_engine[build.engine_id].devices
        elif known is None and build.kind is BuildKind.OURS and build.missing is None:
            known = devices.told_by(engines.engine_of(build.id), machine).devices
        if build.engine_id != TRIAL and engines.catalogue[build.engine_id].attach is None:
            missing = build.missing and _told_whole(build.missing, engines.engine_of(build.id))
            builds.append(replace(build, devices=known, missing=missing))
    lacking = tuple(cause for device in machine.devices if (cause := missing_build(device, told)) is not None)
    return Shown(tuple(builds), engines.absent, {build.id: disk_bytes(build) for build in builds}, lacking)


def _told_whole(missing: Cause, engine: Engine) -> Cause:
    """What is missing, with all that its sentences name."""
    named = {"engine": engine.title, "install": command_for(engine, anew=missing.code == "engine.not_loadable")}
    return Cause(missing.code, {**named, **missing.values})


def as_text(shown: Shown) -> str:
    """Two tables, and a sentence for each card that no build in use can use."""
    head = [
        text("build"), text("engine"), text("state"), text("version"), text("formats"), text("can use"), text("disk"),
        text("where"),
    ]  # fmt: skip
    lines = [table(head, [_row(build, shown.bytes_of.get(build.id)) for build in shown.builds], right=(6,))]
    if shown.absent:
        head = [text("build"), text("engine"), text("what"), text("download"), text("licence"), text("from")]
        titles = {build.engine_id: build.engine_title for build in shown.builds}
        rows = [_absent_row(recipe, titles.get(recipe.engine_id, recipe.engine_id)) for recipe in shown.absent]
        lines += ["", text("To be had with weighbridge engines install BUILD:"), table(head, rows, right=(3,))]
    sentences = [str(explain_code(cause.code, cause.values)) for cause in _causes(shown)]
    return "\n".join([*lines, *([""] if sentences else []), *sentences])


def as_json(shown: Shown) -> dict[str, Any]:
    """All of it."""
    return {
        "builds": [build_as_json(build, shown.bytes_of.get(build.id)) for build in shown.builds],
        "installable": [asdict(recipe) for recipe in shown.absent],
        "lacking": [cause_as_json(cause) for cause in shown.lacking],
    }


def build_as_json(build: Build, on_disk_bytes: int | None) -> dict[str, Any]:
    """One build."""
    values = asdict(build)
    values["missing"] = build.missing and cause_as_json(build.missing)
    return {**values, "disk_bytes": on_disk_bytes}


def _causes(shown: Shown) -> list[Cause]:
    return [*(build.missing for build in shown.builds if build.missing is not None), *shown.lacking]


def _row(build: Build, on_disk_bytes: int | None) -> list[str]:
    return [
        build.id,
        build.engine_title,
        state_in_words(build),
        build.version or "-",
        ", ".join(build.formats),
        devices_in_words(build.devices),
        "-" if on_disk_bytes is None else size(on_disk_bytes),
        build.place or kind_in_words(build.kind),
    ]


def _absent_row(recipe: Recipe, title: str) -> list[str]:
    fetched = "-" if recipe.download_bytes is None else size(recipe.download_bytes)
    return [recipe.id, title, recipe_in_words(recipe), fetched, recipe.licence, recipe.index or text("package index")]
