"""What is loaded beside a model: the projector through which it sees, a draft model that writes ahead, adapters. Pure.

They take their room before the model does: llama.cpp keeps them on the first card whole, and what is left of it is the
model's. A projector needs more than its weights, for it looks at a picture in one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Estimate, Place, PlaceKind, Share, Term, Terms
from weighbridge.estimates.fit import Fit, fit
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.plan import Plan

PROJECTOR_NEED = 1.4
"""What a projector takes over its file's size: what Unsloth's program allows for it; not measured here."""


@dataclass(frozen=True)
class Beside:
    """Sizes of files in bytes, and the digest of a draft model."""

    projector_bytes: int = 0
    adapter_bytes: int = 0
    draft: Blueprint | None = None

    @property
    def nothing(self) -> bool:
        """Whether the model is loaded alone."""
        return not self.projector_bytes and not self.adapter_bytes and self.draft is None


def needs(beside: Beside, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What all of it takes, place by place."""
    first = next((place for place in places if place.kind is PlaceKind.DEDICATED), places[0])
    amounts = {
        Term.PROJECTOR: int(beside.projector_bytes * PROJECTOR_NEED),
        Term.ADAPTER: beside.adapter_bytes,
    }
    taken: dict[str, Terms] = {first.id: {term: amount for term, amount in amounts.items() if amount}}
    for share in _draft(beside.draft, plan, places[0], first):
        parts = [amount for term, amount in share.terms.items() if term is not Term.ENGINE]
        taken.setdefault(share.place, {})[Term.DRAFT] = None if None in parts else sum(part or 0 for part in parts)
    return tuple(Share(place, terms) for place, terms in taken.items() if terms)


def fit_beside(
    blueprint: Blueprint, plan: Plan, places: Sequence[Place], beside: Beside, *, with_remedy: bool = False
) -> Fit:
    """As `fit.fit`, with what is loaded beside the model in the figures and out of what is free for it."""
    if beside.nothing:
        return fit(blueprint, plan, places, with_remedy=with_remedy)
    taken = {share.place: share for share in needs(beside, plan, places)}
    left = [_less(place, taken.get(place.id)) for place in places]
    found = fit(blueprint, plan, left, with_remedy=with_remedy)
    place = next((each for each in places if found.place is not None and each.id == found.place.id), None)
    return replace(found, estimate=_joined(found.estimate, taken), place=place)


def _draft(draft: Blueprint | None, plan: Plan, host: Place, first: Place) -> tuple[Share, ...]:
    """It is loaded whole, with a context as long as the model's."""
    if draft is None:
        return ()
    own = replace(plan, gpu_layers=None, cpu_experts=0, split=None)
    return estimate(draft, own, (host,) if first is host else (host, first)).shares


def _less(place: Place, share: Share | None) -> Place:
    if share is None or place.free_bytes is None:
        return place
    return replace(place, free_bytes=place.free_bytes - share.known_bytes)


def _joined(found: Estimate, taken: dict[str, Share]) -> Estimate:
    """The estimate with these terms in it; a place that only they use comes last."""
    shares = [
        replace(share, terms={**share.terms, **(taken[share.place].terms if share.place in taken else {})})
        for share in found.shares
    ]
    own = {share.place for share in shares}
    shares += [share for place, share in taken.items() if place not in own]
    known = sum(share.known_bytes for share in taken.values())
    least = None if found.least_bytes is None else found.least_bytes + known
    return replace(found, shares=tuple(shares), least_bytes=least)
