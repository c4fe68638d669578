"""One row of the table of choices: what it is, what it weighs here, and what can be done with it. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.units import number
from weighbridge.base.words import mark, text
from weighbridge.choices.offered import Offered
from weighbridge.hub.jobs import ENDED, State
from weighbridge.hub.looking import MAIN
from weighbridge.hub.snapshot import JobView
from weighbridge.hub.wanted import Wanted, name_of
from weighbridge.ui.models.weighed import Weighed

_SHORT = 5
"""Formats with names so short are written in capitals, as they are spoken."""


class Act(Enum):
    """What the button of a row does."""

    GET = auto()
    OPEN = auto()
    FOLLOW = auto()
    LOOK = auto()
    AGAIN = auto()


@dataclass(frozen=True)
class ChoiceRow:
    """A row. `weighed` is None for a spot that was not looked into yet, `failed` is why a look at it failed. `job`: it
    is being fetched. `recommended`: of all rows, the one to take. `has_twin`: another has the same by the same name.
    """

    offered: Offered
    weighed: Weighed | None = None
    job: JobView | None = None
    recommended: bool = False
    is_looked_at: bool = False
    failed: WeighbridgeError | None = None
    has_twin: bool = False

    @property
    def key(self) -> str:
        """What tells it from all other rows."""
        return self.offered.key

    @property
    def title(self) -> str:
        """Its quantisation, else its name; of a spot, the branch, or the repository."""
        offer, spot = self.offered.offer, self.offered.spot
        if offer is not None:
            named = name_of(offer.variant)
            return f"{named} · {self.owner}" if self.has_twin else named
        return spot.repo_id.partition("/")[2] if spot.revision == MAIN else spot.revision

    @property
    def format(self) -> str:
        """ "GGUF"; "" where it is not known yet."""
        offer = self.offered.offer
        named = offer.variant.format if offer is not None else next(iter(self._tagged), "")
        return named.upper() if len(named) < _SHORT else named

    @property
    def size_bytes(self) -> int | None:
        """The sum of its weights; None where that is untold."""
        return self.offered.offer.variant.size_bytes if self.offered.offer else None

    @property
    def bits(self) -> float | None:
        """Bits per weight; None where that is unknown."""
        offer = self.offered.offer
        if offer is None:
            return None
        told = offer.info.bits_per_weight if offer.info else None
        return told if told is not None else offer.variant.bits_per_weight

    @property
    def owner(self) -> str:
        """Who has put it there."""
        return self.offered.spot.repo_id.partition("/")[0]

    @property
    def is_gated(self) -> bool:
        """Whether a licence has to be accepted first, as far as the list has told."""
        hit = self.offered.spot.hit
        return hit is not None and hit.gated

    @property
    def problem(self) -> WeighbridgeError | None:
        """Why it cannot be fetched."""
        return self.offered.offer.problem if self.offered.offer else None

    @property
    def act(self) -> Act | None:
        """What its button does; None where it has none."""
        if self.offered.here is not None:
            return Act.OPEN
        if self.job is not None:
            return Act.FOLLOW
        if self.offered.offer is None:
            return None if self.is_looked_at else Act.AGAIN if self.failed else Act.LOOK
        return Act.GET if self.offered.offer.plain is not None else None

    @property
    def act_in_words(self) -> str:
        """What stands on its button; "" where it has none."""
        if self.act is Act.FOLLOW and self.job is not None:
            return progress_in_words(self.job)
        return "" if self.act is None else text(_ACTS[self.act])

    @property
    def needs(self) -> str:
        """The engine that could run it, where none here does; "" where one does, or it is not weighed yet."""
        choice = self.weighed.choice if self.weighed else None
        runner = choice.runner if choice else None
        return runner.title if self.weighed and self.weighed.runner and runner is not None else ""

    @property
    def fit_badge(self) -> tuple[str, str] | None:
        """The badge of its verdict, with the engine it needs where none here runs it, or of why there is none."""
        if self.problem is not None:
            return "no", text("Cannot be fetched")
        if self.failed is not None:
            return "no", text("Could not be looked into")
        badge = self.weighed.fit_badge if self.weighed else None
        if badge is not None and self.needs and badge[0] in _WITH:
            return badge[0], text(_WITH[badge[0]], engine=self.needs)
        return badge

    @property
    def _tagged(self) -> tuple[str, ...]:
        hit = self.offered.spot.hit
        return hit.formats if hit is not None and len(hit.formats) == 1 else ()


def progress_in_words(job: JobView) -> str:
    """How far a download is: "42 %", "Paused", "Failed"."""
    if job.state is State.PAUSED:
        return text("Paused")
    if job.state is State.FAILED:
        return text("Failed")
    share = job.done_bytes / job.total_bytes if job.total_bytes else 0.0
    return text("{share} %", share=number(int(100 * share)))


def job_of(wanted: Iterable[Wanted | None], jobs: Iterable[JobView]) -> JobView | None:
    """The job that fetches one of `wanted`, where it has not ended well or been cancelled."""
    firsts = {_place(one.repository.id, one.repository.revision, one.files[0].path) for one in wanted if one}
    for job in jobs:
        ended = job.state in ENDED and job.state is not State.FAILED
        if not ended and firsts & {_place(job.repo_id, job.revision, file.path) for file in job.files}:
            return job
    return None


def _place(repo_id: str, revision: str, path: str) -> tuple[str, str, str]:
    return repo_id, revision, path


_WITH: Mapping[str, str] = {"fits": mark("Fits · with {engine}"), "tight": mark("Tight · with {engine}")}
"""That a file fits, and that something is needed to run it, are two things."""

_ACTS: Mapping[Act, str] = {
    Act.GET: mark("Get"),
    Act.OPEN: mark("Open"),
    Act.LOOK: mark("Look into"),
    Act.AGAIN: mark("Try again"),
}
