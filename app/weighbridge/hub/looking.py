"""Looking into repositories before a weight is fetched. One `Spot` costs at most one info and one tree call."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.formats.head import Head
from weighbridge.formats.model import ModelInfo
from weighbridge.hub.hits import Hit
from weighbridge.hub.offers import Offer
from weighbridge.hub.remote import Repository


@dataclass(frozen=True)
class Spot:
    """One revision of one repository, looked into or not.

    `hit` is what a list has told of the repository, which spares a call. Its commit must be that of this `revision`;
    what a list tells is that of main.
    """

    repo_id: str
    revision: str = "main"
    hit: Hit | None = None


@dataclass(frozen=True)
class Sight:
    """What was seen at a spot: each choice there, with what its header or its config says (`Offer.info`).

    `branches` are other spots of the repository with more choices, not looked into yet: those of EXL models lie there,
    one for each size. `unread` is why headers or configs could not be read, where they could not: a licence that is
    not accepted yet, too many requests. `hit` is what is told of the repository.
    """

    spot: Spot
    repository: Repository
    offers: tuple[Offer, ...] = ()
    branches: tuple[Spot, ...] = ()
    unread: WeighbridgeError | None = None
    hit: Hit | None = None


@dataclass(frozen=True)
class Whole:
    """All that the headers of one choice say, tensors included, and how it asks to be talked to.

    `heads` are those of a GGUF model, one for each part, for an engine to size it by; without any, `unsizable` may say
    why. `chat_template` is None where there is none, or it is too long.
    """

    info: ModelInfo
    heads: tuple[Head, ...] = ()
    unsizable: BadFile | None = None
    chat_template: str | None = None
