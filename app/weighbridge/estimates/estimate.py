"""What a model will need, as data: by the place where it lies, term by term."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from weighbridge.estimates.plan import Plan

HOST = "host"
"""The id of the system's memory."""


class Term(StrEnum):
    """What memory is needed for."""

    WEIGHTS = "weights"
    KV = "kv"
    STATE = "state"
    COMPUTE = "compute"
    OUTPUT = "output"
    ENGINE = "engine"
    PROJECTOR = "projector"
    DRAFT = "draft"
    ADAPTER = "adapter"


Terms = dict[Term, int | None]
"""Bytes by term, while they are summed; None is unknown."""


class Basis(StrEnum):
    """Where a figure comes from."""

    CALCULATED = "calculated"
    ENGINE = "engine"
    MEASURED = "measured"


class PlaceKind(StrEnum):
    """Host memory; a card's own; or host memory that a graphics part computes in."""

    HOST = "host"
    DEDICATED = "dedicated"
    UNIFIED = "unified"


@dataclass(frozen=True)
class Place:
    """A memory in which parts of a model can lie. `free_bytes` is what a model may take now, None where unknown.

    `api` is how a card is reached ("cuda", "metal", "rocm", "vulkan", ...): each costs a different overhead.
    `given_back_bytes`, a part of `free_bytes`, is what models that would be ended for this one give back. `reordered`
    are the types of matrices that the engine copies into another order for this processor: see
    `placement.reordered_types`. `sight` is the engine's own name for the device; "" where that is not known.
    """

    id: str
    name: str
    kind: PlaceKind
    total_bytes: int | None = None
    free_bytes: int | None = None
    api: str = ""
    given_back_bytes: int = 0
    reordered: frozenset[str] = frozenset()
    sight: str = ""


@dataclass(frozen=True)
class Share:
    """What lies in one place, in bytes by term. A term that is not there is not needed; None is unknown."""

    place: str
    terms: Mapping[Term, int | None] = field(default_factory=dict)

    @cached_property
    def known_bytes(self) -> int:
        """The sum of what is known."""
        return sum(filter(None, self.terms.values()))

    @property
    def total_bytes(self) -> int | None:
        """The sum; None where a term is unknown."""
        return None if None in self.terms.values() else self.known_bytes


def total_bytes(shares: Iterable[Share]) -> int | None:
    """The sum of all terms of all places; None where one is unknown."""
    totals = [share.total_bytes for share in shares]
    return None if None in totals else sum(filter(None, totals))


@dataclass(frozen=True)
class Estimate:
    """The memory of one plan, place by place; a place that gets nothing is left out.

    `least_bytes` is the lower end of a range whose upper end `total_bytes` is: the two are equal but for an
    architecture that is not understood, and for pages of a file that the system takes back. `notes` are codes of
    `base.explain` about what the figure rests on.
    """

    plan: Plan
    shares: tuple[Share, ...]
    least_bytes: int | None = None
    basis: Basis = Basis.CALCULATED
    notes: tuple[str, ...] = ()

    @property
    def total_bytes(self) -> int | None:
        """All of it; None where a term is unknown."""
        return total_bytes(self.shares)

    @property
    def known_bytes(self) -> int:
        """All that is known of it."""
        return sum(share.known_bytes for share in self.shares)

    def term(self, term: Term) -> int | None:
        """One term over all places; 0 where nothing of it is needed, None where unknown."""
        amounts = [share.terms[term] for share in self.shares if term in share.terms]
        return None if None in amounts else sum(amount or 0 for amount in amounts)

    def left_bytes(self, place: Place) -> int | None:
        """What is left free in `place`; below 0, what is missing there; None where it is not known what is free."""
        return None if place.free_bytes is None else place.free_bytes - self.share(place.id).known_bytes

    def share(self, place: str) -> Share:
        """What lies in `place`."""
        for share in self.shares:
            if share.place == place:
                return share
        return Share(place)
