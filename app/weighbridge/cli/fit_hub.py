"""`weighbridge fit owner/name`: what lies on the Hub, weighed before a byte of it is fetched."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weighbridge.base.errors import NotFound, Refused, WeighbridgeError
from weighbridge.base.paths import default_paths
from weighbridge.base.task import Task
from weighbridge.choices.choice import Choice
from weighbridge.choices.offered import Offered, offered, reference_of
from weighbridge.choices.recommended import recommended
from weighbridge.cli.at_hub import asked, the_hub
from weighbridge.cli.described import for_which_in_words
from weighbridge.cli.fit_ground import Ground
from weighbridge.cli.fit_hub_json import place_as_json, table_as_json
from weighbridge.cli.fit_hub_words import place_in_words, table_in_words
from weighbridge.cli.fit_report import Report, report
from weighbridge.cli.loading import scanned_library
from weighbridge.estimates.blueprint import Blueprint, blueprint
from weighbridge.formats.variant import Role, Variant
from weighbridge.hub.access import endpoint
from weighbridge.hub.kept import Kept
from weighbridge.hub.layout import MAIN, Layout, Shelf, shelf_of
from weighbridge.hub.looking import Looker, Sight, Spot, Whole
from weighbridge.hub.offers import Offer
from weighbridge.hub.reference import Reference
from weighbridge.hub.remote import Repository
from weighbridge.hub.wanted import chosen
from weighbridge.library.model import Helper
from weighbridge.library.places import downloads_folder
from weighbridge.running.parts import beside, named

if TYPE_CHECKING:
    from weighbridge.base.settings import Settings
    from weighbridge.hub.client import Hub

MOST_BRANCHES = 12
"""Branches that are looked into for one table; each costs a call of its own."""

_NOT_THERE = ("hub.no_quant", "hub.nothing_to_fetch", "model.other_branches", "hub.no_file_there")


@dataclass(frozen=True)
class Meant:
    """One choice that was named, looked at closely, and the draft model beside it where it was asked for."""

    sight: Sight
    offer: Offer
    whole: Whole
    draft: Whole | None = None


@dataclass(frozen=True)
class All:
    """All choices over the branches that were looked into, and those that were left."""

    sights: tuple[Sight, ...]
    left: tuple[Spot, ...] = ()


def fit_at_hub(arguments: argparse.Namespace, reference: Reference, ground: Ground) -> int:
    """Weigh what `reference` means: one choice in full, or all there are in a table."""
    with the_hub() as (first, kept):
        hub, seen = asked(first, lambda hub: _seen(_looker(hub, kept), reference, arguments))
        with closing(hub):
            if isinstance(seen, Meant):
                _tell_one(arguments, ground, kept, seen)
            else:
                _tell_all(arguments, ground, kept, seen)
    return 0


def _looker(hub: Hub, kept: Settings) -> Looker:
    return Looker(hub, Kept(default_paths().data / "hub", lambda: endpoint(kept, os.environ)))


def _seen(looker: Looker, reference: Reference, arguments: argparse.Namespace) -> Meant | All:
    task = Task()
    first = looker.look(Spot(reference.repo_id, reference.revision or MAIN), task)
    if reference.file is not None or reference.quant is not None:
        sight, offer = _named(looker, first, reference, task)
        return _closely(looker, sight, offer, arguments, task)
    if reference.revision is not None and len(first.offers) == 1:
        return _closely(looker, first, first.offers[0], arguments, task)
    _require_for_all(arguments, reference)
    branches = first.branches[:MOST_BRANCHES]
    sights = (first, *(looker.look(spot, task) for spot in branches))
    if not any(sight.offers for sight in sights):
        raise Refused("hub.nothing_to_fetch", repo_id=first.repository.id)
    return All(sights, first.branches[MOST_BRANCHES:])


def _require_for_all(arguments: argparse.Namespace, reference: Reference) -> None:
    """Raise Refused for an option that has a meaning for one choice alone."""
    asked_for = {"--exact": arguments.exact, "--want": arguments.want, "--with draft": "draft" in arguments.beside}
    for option in (option for option, value in asked_for.items() if value):
        raise Refused("options.needs", one=option, other=f"{reference.repo_id}:QUANT")


def _named(looker: Looker, first: Sight, reference: Reference, task: Task) -> tuple[Sight, Offer]:
    """The choice that is named, in the branch that was asked for, else in another one. Raises what `wanted.chosen`
    does.
    """
    problem: WeighbridgeError | None = None
    for sight in _in_turn(looker, first, reference.quant, task):
        try:
            return sight, _chosen(sight, reference)
        except (Refused, NotFound) as error:
            if error.code not in _NOT_THERE:
                raise
            problem = problem or (error if sight.offers else None)
    raise problem or Refused("hub.nothing_to_fetch", repo_id=first.repository.id)


def _in_turn(looker: Looker, first: Sight, quant: str | None, task: Task) -> Iterator[Sight]:
    """`first`, then its branches, the one that is called like the choice before all others."""
    yield first
    called = [spot for spot in first.branches if spot.revision == quant]
    for spot in [*called, *(spot for spot in first.branches if spot not in called)][:MOST_BRANCHES]:
        yield looker.look(spot, task)


def _chosen(sight: Sight, reference: Reference) -> Offer:
    if sight.spot.revision == reference.quant and len(sight.offers) == 1:
        return sight.offers[0]
    meant = chosen([offer.variant for offer in sight.offers], reference)
    return next(offer for offer in sight.offers if offer.variant is meant)


def _closely(looker: Looker, sight: Sight, offer: Offer, arguments: argparse.Namespace, task: Task) -> Meant:
    whole = looker.look_closely(sight, offer, task)
    drafts = [each.file for each in offer.variant.companions if each.role is Role.DRAFT]
    if Role.DRAFT.value not in arguments.beside or not drafts:
        return Meant(sight, offer, whole)
    draft = Offer(Variant("gguf", drafts[0].stem, files=(drafts[0],)))
    return Meant(sight, offer, whole, looker.look_closely(sight, draft, task))


def _shelf(repository: Repository, kept: Settings) -> Shelf:
    folder = downloads_folder(default_paths(), kept, os.environ)
    return shelf_of(repository, Layout(kept.download_target), folder)


def _tell_one(arguments: argparse.Namespace, ground: Ground, kept: Settings, seen: Meant) -> None:
    sight, info = seen.sight, seen.whole.info
    alone = replace(sight, offers=(seen.offer,), branches=())
    [row] = offered(alone, _shelf(sight.repository, kept), scanned_library().models)
    assert row.model is not None
    model = replace(row.model, info=info)
    if model.format == "gguf":
        model = replace(model, quant=info.quant, guessed=info.quant_guessed)

    def digest(draft: Helper) -> Blueprint | None:
        return None if seen.draft is None else blueprint(seen.draft.info, draft.size_bytes)

    parts = beside(named(model, arguments.beside), digest)
    called = reference_of(sight.spot, seen.offer.variant)
    told = Report(model, parts, called, seen.whole.heads, place_in_words(sight, row), place_as_json(sight, row))
    report(arguments, ground, told)


def _tell_all(arguments: argparse.Namespace, ground: Ground, kept: Settings, seen: All) -> None:
    here = scanned_library().models
    found = [offered(replace(sight, branches=()), _shelf(sight.repository, kept), here) for sight in seen.sights]
    rows = [row for of_sight in found for row in of_sight]
    choices = _weighed(rows, ground, arguments)
    best = recommended(choices, ground.around.machine.devices)
    if arguments.json:
        print(json.dumps(table_as_json(seen.sights, seen.left, rows, choices, best)))
        return
    if ground.elsewhere:
        print(for_which_in_words(ground.around.machine))
    print(table_in_words(seen.sights, seen.left, rows, choices, best))


def _weighed(rows: Sequence[Offered], ground: Ground, arguments: argparse.Namespace) -> list[Choice]:
    """Each row as it would be loaded, with what of `--with` there is for it. Raises NotFound where there is none for
    any of them, Refused where an engine is asked for that runs none of them.
    """
    models = [row.model for row in rows if row.model is not None]
    for role in arguments.beside:
        if not any(model.companion(Role(role)) for model in models):
            raise NotFound("model.no_companion", model=rows[0].spot.repo_id, role=role)
    choices: list[Choice] = []
    refused: list[Refused] = []
    for model in models:
        helped = [role for role in arguments.beside if model.companion(Role(role))]
        try:
            weighed = ground.weighed(model, beside(named(model, helped), lambda _: None))
        except Refused as error:
            refused.append(error)
            weighed = Choice(model, None, None, None, ground.load(model))
        choices.append(ground.with_speeds(weighed))
    if refused and len(refused) == len(models):
        raise refused[0]
    return choices
