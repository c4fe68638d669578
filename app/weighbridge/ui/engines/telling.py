"""What is said once something was done with a build. No Qt here."""

from __future__ import annotations

from weighbridge.base.explain import explain_code
from weighbridge.base.words import mark, text
from weighbridge.choices.build_words import title_in_words, tried_in_words
from weighbridge.running.builds import Build, BuildKind
from weighbridge.running.installation import Outcome
from weighbridge.ui.engines.words import devices_in_words


def installed_in_words(outcome: Outcome) -> str:
    """That it is installed, whether it is used and else why not, what it sees, and what was tried."""
    build, why_not = outcome.build, outcome.why_not
    values = {"build": build.title, "engine": build.engine_title}
    if why_not is not None:
        said = str(explain_code(why_not.code, why_not.values))
    elif build.in_use:
        said = text("The {build} build of {engine} is installed and in use.", **values)
    else:
        said = text("The {build} build of {engine} is installed.", **values)
    return " ".join([said, f"{devices_in_words(build.devices)}.", tried_in_words(build)])


def used_in_words(build: Build) -> str:
    """What is loaded from now on."""
    return text(
        "{engine} is loaded as {build} from now on; what is loaded goes on as it is.",
        engine=build.engine_title,
        build=title_in_words(build),
    )


def newer_in_words(build: Build, newer: str | None) -> str:
    """Whether there is a newer one than that which is here."""
    values = {"build": build.title, "engine": build.engine_title, "version": build.version or "-"}
    if newer is None:
        return text("The package index has no newer one than {version}, the {build} build of {engine}.", **values)
    said = mark("{newer} of {engine} can be had; the {build} build here is {version}.")
    return text(said, newer=newer, **values)


def removed_in_words(build: Build) -> str:
    """What is gone, and that a program's file is not."""
    if build.kind is BuildKind.PROGRAM:
        return text("{path} is off the list; the file is where it was.", path=build.place)
    return text("The {build} build of {engine} is removed.", build=build.title, engine=build.engine_title)


def added_in_words(build: Build, *, tried: bool) -> str:
    """What it sees, and whether it wrote a token."""
    said = text("{path} is on the list. {sees}.", path=build.place, sees=devices_in_words(build.devices))
    return " ".join((said, text("It wrote a token."))) if tried else said
