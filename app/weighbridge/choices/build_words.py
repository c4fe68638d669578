"""What a build of an engine is called, and what is told of it. For window and terminal."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark, text
from weighbridge.running.builds import Build, BuildKind, Recipe
from weighbridge_engines.api import Device

_PLACES: Mapping[BuildKind, str] = {
    BuildKind.OURS: mark("with Weighbridge"),
    BuildKind.ENVIRONMENT: mark("installed apart"),
    BuildKind.PROGRAM: mark("your program"),
}


def title_in_words(build: Build) -> str:
    """ "CUDA 13", the path of a program, or that it came with this program."""
    return build.title or text("as it came with Weighbridge")


def kind_in_words(kind: BuildKind) -> str:
    """ "installed apart"."""
    return text(_PLACES[kind])


def state_in_words(build: Build) -> str:
    """ "in use", "here", or "cannot be used"."""
    if build.missing is not None:
        return text("not installed") if build.kind is BuildKind.OURS else text("cannot be used")
    return text("in use") if build.in_use else text("here")


def devices_in_words(devices: tuple[Device, ...] | None) -> str:
    """ "CPU, CUDA0 (NVIDIA GeForce RTX 3090)"; "unknown" where it has not told."""
    if devices is None:
        return text("unknown")
    named = (device.id if device.kind == "cpu" else f"{device.id} ({device.name})" for device in devices)
    return ", ".join(named) or text("nothing")


def tried_in_words(build: Build) -> str:
    """What was tried as it was installed."""
    if build.token:
        return text("It told its devices and wrote a token.")
    return text("It told its devices; no model was here that it could be tried with.")


def recipe_in_words(recipe: Recipe) -> str:
    """ "CUDA 13"; with a word where nobody has tried that very build."""
    if recipe.verified:
        return recipe.title
    return text("{title} (not tried by us)", title=recipe.title)
