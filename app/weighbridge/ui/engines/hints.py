"""What stands above the engines: that a card is not used, or that no engine is here, and the build that mends it.

Pure; no Qt here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.base.explain import explain_code
from weighbridge.base.words import plural, text
from weighbridge.choices.engine_words import fetched_in_words
from weighbridge.hardware.machine import Machine
from weighbridge.running.builds import Offer, Recipe, best_offer
from weighbridge.running.choose import PREFERRED
from weighbridge.running.devices import Told, missing_build
from weighbridge.running.installing import none_installed
from weighbridge.ui.engines.looks import Act, Known
from weighbridge_engines.api import Cause


@dataclass(frozen=True)
class Hint:
    """A sentence, and the one thing to do about it: INSTALL or USE a build; `about` says what that takes.

    `build_id` is "" where nothing here can be done.
    """

    said: str
    build_id: str = ""
    act: Act = Act.INSTALL
    title: str = ""
    about: str = ""


def hints(known: Known, offers: Sequence[Offer], told: Sequence[Told], machine: Machine | None) -> tuple[Hint, ...]:
    """That no engine is installed, where none is; else one hint for each build that would use cards which no engine in
    use does.
    """
    if (absent := none_installed(known.engines.values(), PREFERRED)) is not None:
        return (_first(absent, known, offers, machine),)
    causes = [cause for device in machine.devices if (cause := missing_build(device, told))] if machine else []
    ids = dict.fromkeys(str(cause.values.get("build_id", "")) for cause in causes)
    return tuple(_unused(build_id, _of(build_id, causes), known) for build_id in ids)


def _of(build_id: str, causes: Sequence[Cause]) -> list[Cause]:
    return [cause for cause in causes if str(cause.values.get("build_id", "")) == build_id]


def _unused(build_id: str, causes: Sequence[Cause], known: Known) -> Hint:
    first = causes[0]
    if not build_id:
        return Hint(str(explain_code(first.code, first.values)))
    devices = text(" and ").join(dict.fromkeys(str(cause.values["device"]) for cause in causes))
    said = plural(
        "{devices} is not used: the {build} build of {engine} can use it.",
        "{devices} are not used: the {build} build of {engine} can use them.",
        len(causes),
        devices=devices,
        build=str(first.values["build"]),
        engine=str(first.values["engine"]),
    )
    recipe = _recipe(build_id, known)
    if first.code == "engine.build_not_used":
        return Hint(said, build_id, Act.USE, text("Use it"), text("It is installed."))
    return Hint(said, build_id, Act.INSTALL, text("Install it"), _about(recipe))


def _first(absent: Cause, known: Known, offers: Sequence[Offer], machine: Machine | None) -> Hint:
    """The build of the engine that suits this machine: one that uses its first card, else the plain one."""
    engine = str(absent.values["engine"])
    own = [offer for offer in offers if offer.engine_title == engine and not offer.installed]
    for_cards = (best_offer(device, own) for device in machine.devices) if machine else iter(())
    plain = (offer for offer in own if (recipe := _recipe(offer.build_id, known)) and recipe.api == "cpu")
    best = next(filter(None, for_cards), None) or next(plain, None)
    said = text("No engine is installed, so no model can run yet. {engine} suits this machine.", engine=engine)
    if best is None:
        return Hint(str(explain_code(absent.code, absent.values)))
    title = text("Install {engine}", engine=engine)
    about = text("The {build} build.", build=best.title) + " " + _about(_recipe(best.build_id, known))
    return Hint(said, best.build_id, Act.INSTALL, title, about)


def _recipe(build_id: str, known: Known) -> Recipe | None:
    return next((recipe for recipe in known.recipes if recipe.id == build_id), None)


def _about(recipe: Recipe | None) -> str:
    if recipe is None:
        return ""
    untried = "" if recipe.verified else " · " + text("not tried by us; removed again if it does not work here")
    return fetched_in_words(recipe) + untried
