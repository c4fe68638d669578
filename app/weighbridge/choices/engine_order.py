"""In which order engines are shown: those that are here, those that suit this machine, the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from weighbridge.choices.engine_words import why_no_card, why_not_here, why_unsuited
from weighbridge.hardware.machine import Machine
from weighbridge.running.builds import Build, BuildKind, Recipe, System
from weighbridge.running.choose import PREFERRED
from weighbridge.running.installing import TRIAL
from weighbridge_engines.api import Engine


class Standing(StrEnum):
    """How an engine stands here."""

    HERE = "here"
    SUITED = "suited"
    OTHER = "other"


def shown_engines(engines: Mapping[str, Engine]) -> tuple[Engine, ...]:
    """Those that can be here: neither the one for trials nor servers that somebody else runs."""
    return tuple(engine for engine in engines.values() if engine.id != TRIAL and engine.attach is None)


def standing(
    engine: Engine, builds: Iterable[Build], recipes: Iterable[Recipe], system: System, machine: Machine | None
) -> Standing:
    """How `engine` stands, by all builds that are here and all recipes. While `machine` is not known, all suit it."""
    if any(build.engine_id == engine.id and _is_here(build) for build in builds):
        return Standing.HERE
    own = [recipe for recipe in recipes if recipe.engine_id == engine.id]
    if own:
        suits = any(not (why_not_here(recipe, system) or why_unsuited(recipe, machine)) for recipe in own)
    else:
        suits = _suits_cards(engine, machine)
    return Standing.SUITED if suits else Standing.OTHER


def in_order(engines: Iterable[Engine], standings: Mapping[str, Standing]) -> Sequence[Engine]:
    """By their standing, and of the same standing as they are tried."""
    order = tuple(Standing)
    return sorted(engines, key=lambda engine: (order.index(standings[engine.id]), _rank(engine)))


def is_not_installed(build: Build) -> bool:
    """The place beside this program where the library is not: no build, in truth."""
    return build.kind is BuildKind.OURS and build.missing is not None and build.missing.code in _NOT_INSTALLED


_NOT_INSTALLED = ("engine.not_installed", "program.to_get", "program.not_for_system", "build.no_program")


def _is_here(build: Build) -> bool:
    return not is_not_installed(build)


def _suits_cards(engine: Engine, machine: Machine | None) -> bool:
    """Of one that we do not install: whether what it computes on is here."""
    hardware = engine.hardware
    if hardware is None or machine is None:
        return hardware is not None
    if hardware.processor:
        return True
    return not why_no_card(hardware.vendors, hardware.least_compute_capability, None, machine)


def _rank(engine: Engine) -> int:
    return PREFERRED.index(engine.id) if engine.id in PREFERRED else len(PREFERRED)
