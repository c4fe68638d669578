"""How an engine, or a build of it that uses the cards, is got. Pure."""

from __future__ import annotations

from dataclasses import replace

from weighbridge.choices.advice.advice import Action, ActionKind, Standing
from weighbridge.choices.advice.candidate import Candidate
from weighbridge.choices.advice.machine_kind import cards_of
from weighbridge.running.builds import Offer, Recipe, best_offer
from weighbridge.running.installing import command_for


def standing_of(candidate: Candidate) -> Standing:
    """How it stands, where nothing keeps it from running here."""
    if candidate.here or candidate.attached is not None:
        return Standing.READY
    return Standing.TO_ATTACH if candidate.known.preset else Standing.TO_INSTALL


def action_for(candidate: Candidate) -> Action | None:
    """What gets it, or a build of it that uses the cards; None where nothing is to be done, or nothing can be: what is
    under the AGPL is never brought.
    """
    if candidate.attached is not None or (candidate.here and candidate.blind_to is None):
        return None
    if candidate.known.preset:
        return Action(ActionKind.ATTACH, candidate.title, candidate.id, preset=candidate.known.preset)
    if candidate.known.agpl:
        return None
    if not has_builds(candidate):
        return _by_hand(candidate)
    build = _of_build(candidate)
    if build is None or not candidate.ground.elsewhere:
        return build
    return replace(build, kind=ActionKind.INSTALL, command=f"weighbridge engines install {build.build_id}")


def has_builds(candidate: Candidate) -> bool:
    """Whether there are builds of it at all, for this machine or another."""
    return any(one.engine_id == candidate.id for one in candidate.ground.recipes)


def lacks_build(candidate: Candidate) -> bool:
    """Whether there are builds of it, and none for the cards that count here as they are: an old driver will do."""
    if candidate.here or candidate.ground.elsewhere or not candidate.on_cards or not has_builds(candidate):
        return False
    return bool(cards_of(candidate.ground.around.machine)) and _of_build(candidate) is None


def _of_build(candidate: Candidate) -> Action | None:
    ground = candidate.ground
    offered = [offer for offer in ground.offers if offer.engine_id == candidate.id]
    cards = cards_of(ground.around.machine)
    if cards and candidate.on_cards:
        offer = best_offer(cards[0], offered)
        return None if offer is None else _of_offer(candidate, offer, offer.verified_on(cards[0]))
    recipes = [one for one in ground.recipes if one.engine_id == candidate.id and one.api == "cpu"]
    return _of_recipe(candidate, recipes[0]) if recipes else None


def _of_offer(candidate: Candidate, offer: Offer, verified: bool) -> Action:
    kind = ActionKind.USE_BUILD if offer.installed else ActionKind.INSTALL_BUILD
    return Action(kind, f"{candidate.title} {offer.title}", candidate.id, offer.build_id, verified)


def _of_recipe(candidate: Candidate, recipe: Recipe) -> Action:
    title = f"{candidate.title} {recipe.title}"
    return Action(ActionKind.INSTALL_BUILD, title, candidate.id, recipe.id, recipe.verified)


def _by_hand(candidate: Candidate) -> Action | None:
    if candidate.engine is None or candidate.ground.elsewhere or candidate.here:
        return None
    command = command_for(candidate.engine)
    return Action(ActionKind.INSTALL, candidate.title, candidate.id, command=command) if command else None
