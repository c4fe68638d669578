"""Looking into repositories before a weight is fetched. One `Spot` costs at most one info and one tree call."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.hub.hits import Hit
from weighbridge.hub.offers import Offer
from weighbridge.hub.remote import Repository


@dataclass(frozen=True)
class Spot:
    """One revision of one repository, looked into or not. `hit` is what a list has told of it, which spares a call."""

    repo_id: str
    revision: str = "main"
    hit: Hit | None = None


@dataclass(frozen=True)
class Sight:
    """What was seen at a spot: each choice there, with what its header or its config says (`Offer.info`).

    `branches` are other spots of the repository with more choices, not looked into yet: those of EXL models lie there,
    one for each size.
    """

    spot: Spot
    repository: Repository
    offers: tuple[Offer, ...] = ()
    branches: tuple[Spot, ...] = ()
