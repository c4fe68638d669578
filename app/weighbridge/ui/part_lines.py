"""What is said of the files that could be loaded beside a model. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.choices.part_words import pairing_in_words
from weighbridge.formats.variant import Role
from weighbridge.library.candidates import Candidate, candidates, helpers_in
from weighbridge.library.marks import Mark
from weighbridge.library.model import Model

ROLES = (Role.PROJECTOR, Role.DRAFT, Role.ADAPTER)
Offers = Mapping[Role, Sequence[Candidate]]


@dataclass(frozen=True)
class PartLine:
    """One role: the file that is loaded, or that none is; what is said of it."""

    role: Role
    name: str
    said: str


def offers(model: Model, models: Iterable[Model]) -> Offers:
    """What could be loaded beside `model`, role by role. Reads headers."""
    near, listed = helpers_in(model.path.parent), tuple(models)
    return {role: candidates(model, role, listed, near) for role in ROLES}


def lines(model: Model, mark: Mark, found: Offers) -> list[PartLine]:
    """A line for each role of which the user has chosen a file, or none, or one was found for this very model."""
    made = []
    for role in ROLES:
        chosen, known = mark.parts.get(role), found.get(role, ())
        own = next((each for each in known if each.own), None)  # none of a role that was not to be loaded
        if chosen is not None:
            made.append(PartLine(role, chosen.name, _chosen(chosen, known)))
        elif own is not None:
            made.append(PartLine(role, text("not loaded"), text("{name} is here for it", name=own.helper.path.name)))
        elif role in mark.parts:
            made.append(PartLine(role, text("not loaded"), text("Chosen by you")))
    return made


def offer_in_words(candidate: Candidate) -> str:
    """One of those to choose from: its name, its size, and whether it is for the model."""
    return " · ".join((candidate.helper.path.name, *_told(candidate)))


def _chosen(path: Path, known: Sequence[Candidate]) -> str:
    if not path.exists():
        return text("not there now")
    candidate = next((each for each in known if each.helper.path == path), None)
    return text("Chosen by you") if candidate is None else " · ".join(_told(candidate))


def _told(candidate: Candidate) -> tuple[str, ...]:
    found = (text("found by its name"),) if candidate.own else ()
    return size(candidate.helper.size_bytes), pairing_in_words(candidate.pairing), *found
