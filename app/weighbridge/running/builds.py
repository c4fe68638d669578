"""Builds of engines: which there are to install, which are here, and which would use a device. Values, and pure.

One engine may be here in several builds: beside this program, in environments of their own, as programs that the user
has. One of them is in use; the others wait.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from weighbridge.hardware.machine import Device as CardOrPart
from weighbridge.hardware.merge import vendor_of
from weighbridge_engines.api import Cause, Device


class BuildKind(StrEnum):
    """Where a build is: in this program's own environment, in one of its own, or a program that the user has."""

    OURS = "ours"
    ENVIRONMENT = "environment"
    PROGRAM = "program"


@dataclass(frozen=True)
class Recipe:
    """A build that can be installed: one entry of `engine_builds.toml`, whose head explains each field.

    `download_bytes` and the least versions are None where they are not known. `verified`: somebody has run it, though
    not on cards of `untried_vendors`.
    """

    id: str
    engine_id: str
    title: str
    api: str
    vendors: tuple[str, ...]
    systems: tuple[str, ...]
    requirements: tuple[str, ...]
    index: str | None
    least_python: str
    licence: str
    verified: bool
    source: str
    download_bytes: int | None = None
    least_glibc: str | None = None
    least_compute_capability: str | None = None
    least_driver: str | None = None
    torch: str | None = None
    needs: tuple[str, ...] = ()
    untried_vendors: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """What wheels are chosen by: `name` as in `Recipe.systems`, and the C library's version (None: not glibc)."""

    name: str
    glibc: str | None = None


@dataclass(frozen=True)
class Build:
    """One build that is here. `place` is its folder or program, `title` what it is called beside its engine's name;
    both are "" for the one beside this program.

    `missing` says why it cannot be used now. `devices` is what it told when it came (None: not asked yet), `token`
    whether it wrote a token then (None: there was no model to try with). `installed_on` is a day, ISO 8601.
    """

    id: str
    engine_id: str
    engine_title: str
    title: str
    kind: BuildKind
    place: str
    version: str | None
    in_use: bool
    formats: tuple[str, ...] = ()
    missing: Cause | None = None
    devices: tuple[Device, ...] | None = None
    token: bool | None = None
    installed_on: str | None = None


@dataclass(frozen=True)
class Offer:
    """A build that is not in use and whose cards it would use: `vendors`. Installed already, or to be installed.

    `verified`: somebody has run it, though not on cards of `untried_vendors`.
    """

    build_id: str
    title: str
    engine_id: str
    engine_title: str
    vendors: tuple[str, ...]
    installed: bool
    verified: bool = True
    least_compute_capability: str | None = None
    least_driver: str | None = None
    untried_vendors: tuple[str, ...] = ()

    def verified_on(self, device: CardOrPart) -> bool:
        """Whether somebody has run it on such a card, or it is here and was tried as it came."""
        return self.verified and device.vendor not in self.untried_vendors


def read_recipes(text: str) -> tuple[Recipe, ...]:
    """The entries of `engine_builds.toml`, in order."""
    return tuple(_recipe(entry) for entry in tomllib.loads(text)["build"])


def _recipe(entry: Mapping[str, object]) -> Recipe:
    values = dict(entry)
    mebibytes = values.pop("download_mib", None)
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    plain = {name: value for name, value in values.items() if name not in (*lists, "engine")}
    return Recipe(
        **{"index": None, **plain, **lists},  # type: ignore[arg-type] # fields by name
        engine_id=str(values["engine"]),
        download_bytes=mebibytes << 20 if isinstance(mebibytes, int) else None,
    )


def runs_on(recipe: Recipe, system: System) -> bool:
    """Whether there are wheels of it for `system`."""
    old = recipe.least_glibc is not None and system.glibc is not None
    if old and version_key(system.glibc) < version_key(recipe.least_glibc):
        return False
    return system.name in recipe.systems


def offers(builds: Iterable[Build], recipes: Iterable[Recipe], system: System) -> tuple[Offer, ...]:
    """What is not in use: the builds that are here, then those that could be installed on `system`, verified ones
    first. Of engines of which a build is here alone.
    """
    here = list(builds)
    titles = {build.engine_id: build.engine_title for build in here}
    waiting = [_offer_of(build) for build in here if not build.in_use and build.missing is None]
    known = {build.id for build in here}
    absent = [
        Offer(
            build_id=recipe.id,
            title=recipe.title,
            engine_id=recipe.engine_id,
            engine_title=titles[recipe.engine_id],
            vendors=recipe.vendors,
            installed=False,
            verified=recipe.verified,
            least_compute_capability=recipe.least_compute_capability,
            least_driver=recipe.least_driver,
            untried_vendors=recipe.untried_vendors,
        )
        for recipe in recipes
        if recipe.engine_id in titles and recipe.id not in known and runs_on(recipe, system)
    ]
    return (*waiting, *sorted(absent, key=lambda offer: not offer.verified))


def _offer_of(build: Build) -> Offer:
    seen = tuple(dict.fromkeys(vendor_of(device) for device in build.devices or () if device.kind != "cpu"))
    return Offer(build.id, build.title or build.id, build.engine_id, build.engine_title, seen, installed=True)


def best_offer(device: CardOrPart, offered: Sequence[Offer]) -> Offer | None:
    """The first build that would use `device`, by its maker, age and driver as far as these are known."""
    return next((offer for offer in offered if _suits(offer, device)), None)


def _suits(offer: Offer, device: CardOrPart) -> bool:
    if device.vendor not in offer.vendors:
        return False
    pairs = (
        (device.compute_capability, offer.least_compute_capability),
        (device.driver if device.vendor == "nvidia" else None, offer.least_driver),
    )
    return all(_at_least(has, least) for has, least in pairs)


def _at_least(has: str | None, least: str | None) -> bool:
    """What is not known stands in nobody's way."""
    return has is None or least is None or version_key(has) >= version_key(least)


def version_key(version: str | None) -> tuple[int, ...]:
    """Numbers to compare versions by: "580.65.06" is (580, 65, 6); what is no number counts as 0."""
    return tuple(int(part) if part.isdecimal() else 0 for part in (version or "").split("."))


Listener = Callable[[], None]
"""Called after a change of what is here or in use, in the thread that changed it."""
