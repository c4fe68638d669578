"""Looking into repositories before a weight is fetched. One `Spot` costs at most one info and one tree call."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from weighbridge.base.errors import Refused, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.exl_names import exl_of_names
from weighbridge.formats.variant import Variant
from weighbridge.hub.abandon import abandonable
from weighbridge.hub.hits import Hit
from weighbridge.hub.kept import Kept
from weighbridge.hub.offers import Offer
from weighbridge.hub.quant_families import learned
from weighbridge.hub.reading import Files, Reading
from weighbridge.hub.recent import Asker, Recent, anybody
from weighbridge.hub.reference import is_revision
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.seeing import offers_seen
from weighbridge.hub.whole import MOST_ASKED, Whole, read_whole

__all__ = ["MAIN", "Asked", "Looker", "Sight", "Spot", "Whole"]

MAIN = "main"
MOST_BRANCHES = 100
REMEMBERED, REMEMBERED_S = 64, 600.0
"""How many looks are remembered, and how long where nobody has told since that the branch is still where it was."""

_EXL = frozenset({"exl2", "exl3"})


class Asked(Files, Protocol):
    """What is asked of the Hub here: see `client.Hub`."""

    def hit(self, repo_id: str, revision: str = MAIN) -> Hit:
        """What is told of a repository without its files."""

    def files(self, repo_id: str, commit: str, task: Task | None = None) -> tuple[RemoteFile, ...]:
        """All files at a commit."""

    def branch_commits(self, repo_id: str) -> Mapping[str, str]:
        """At which commit each branch is now."""


@dataclass(frozen=True)
class Spot:
    """One revision of one repository, looked into or not.

    `hit` is what a list has told of the repository, which spares a call. Its commit must be that of this `revision`;
    what a list tells is that of main.
    """

    repo_id: str
    revision: str = MAIN
    hit: Hit | None = None


@dataclass(frozen=True)
class Sight:
    """What was seen at a spot: each choice there, with what its header or its config says (`Offer.info`).

    `branches` are other spots of the repository with more choices, not looked into yet: those of EXL models lie there,
    one for each size. `unread` is why headers or configs could not be read, where they could not: a licence that is
    not accepted yet, too many requests. `hit` is what is told of the repository. `left_out` is how many more choices
    there are, of one that was cut with `within`.
    """

    spot: Spot
    repository: Repository
    offers: tuple[Offer, ...] = ()
    branches: tuple[Spot, ...] = ()
    unread: WeighbridgeError | None = None
    hit: Hit | None = None
    left_out: int = 0

    def within(self, most: int, meant: Variant | None = None) -> Sight:
        """With the first `most` choices, and the one that is `meant` among them."""
        if len(self.offers) <= most:
            return self
        first = [offer for offer in self.offers if offer.variant == meant][:1]
        rest = [offer for offer in self.offers[:most] if offer not in first]
        kept = (*first, *rest)[:most]
        return replace(self, offers=kept, left_out=len(self.offers) - len(kept))


class Looker:
    """Looks into repositories, and remembers what it saw, as long as `asker` is the same. `kept` has what cannot
    change. From any thread.

    Each method raises what the Hub raises (see `remote.Source`), and Cancelled at once where its task is cancelled.
    """

    def __init__(
        self, hub: Asked, kept: Kept, clock: Callable[[], float] = time.monotonic, asker: Asker = anybody
    ) -> None:
        self._hub, self._kept, self._clock = hub, kept, clock
        self._seen: Recent[tuple[str, str], tuple[float, Sight]] = Recent(REMEMBERED, asker)

    def look(self, spot: Spot, task: Task) -> Sight:
        """What there is at a spot.

        Costs one info call, none where `spot.hit` tells the commit; one tree call for each commit ever; of GGUF files
        8 KiB, 64 at most, for each family of quantisations; one refs call where choices may lie on branches; and what
        was seen some minutes ago costs nothing.
        """
        known, asker = self._remembered(spot), self._seen.asker()
        if known is not None:
            return known
        sight = abandonable(lambda: self._look(spot, task), lambda _sight: None, task)
        if sight.unread is None:
            self._seen.keep((spot.repo_id, spot.revision), (self._clock(), sight), asker)
        return sight

    def forget(self, spot: Spot) -> None:
        """Ask anew what there is at a spot."""
        self._seen.drop((spot.repo_id, spot.revision))

    def look_closely(self, sight: Sight, offer: Offer, task: Task) -> Whole:
        """The whole headers of one choice, 64 MiB each at most. Raises what is wrong with it (`Offer.problem`), and
        BadFile for what is found damaged now.
        """
        whole = abandonable(lambda: self._whole(sight, offer, task), lambda _whole: None, task)
        self._learn(sight, offer, whole)
        return whole

    def _look(self, spot: Spot, task: Task) -> Sight:
        task.check()
        if spot.hit is None or spot.hit.commit is None:
            return self._seen_at(spot, self._hub.hit(spot.repo_id, spot.revision), task)
        try:
            return self._seen_at(spot, spot.hit, task)
        except Refused as error:
            if error.code != "hub.no_revision":
                raise
        return self._look(replace(spot, hit=None), task)  # since the list was made its commits were written anew

    def _seen_at(self, spot: Spot, hit: Hit, task: Task) -> Sight:
        commit = hit.commit or ""
        files = self._files(hit.id, commit, task)
        repository = Repository(hit.id, spot.revision, commit, files, hit.gated, hit.tags)
        reading = Reading(self._hub, self._kept, repository, task)
        offers = offers_seen(reading, hit)
        branches = self._branches(spot, hit, offers, task)
        return Sight(spot, repository, offers, branches, reading.unread, hit)

    def _files(self, repo_id: str, commit: str, task: Task) -> tuple[RemoteFile, ...]:
        known = self._kept.tree(repo_id, commit)
        if known is None:
            task.check()
            known = self._hub.files(repo_id, commit, task)
            self._kept.keep_tree(repo_id, commit, known)
        return known

    def _branches(self, spot: Spot, hit: Hit, offers: tuple[Offer, ...], task: Task) -> tuple[Spot, ...]:
        """The spots beside main, where choices are to be expected there."""
        fetchable = any(offer.plain is not None for offer in offers)
        exl = not _EXL.isdisjoint(hit.tags) or exl_of_names([hit.id]).method is not None
        if spot.revision != MAIN or (fetchable and not exl):
            return ()
        task.check()
        commits = self._hub.branch_commits(hit.id)
        named = [name for name in commits if name != MAIN and is_revision(name)][:MOST_BRANCHES]
        return tuple(Spot(hit.id, name, replace(hit, commit=commits[name], files=())) for name in named)

    def _whole(self, sight: Sight, offer: Offer, task: Task) -> Whole:
        return read_whole(Reading(self._hub, self._kept, sight.repository, task, MOST_ASKED), offer)

    def _remembered(self, spot: Spot) -> Sight | None:
        known = self._seen.get((spot.repo_id, spot.revision))
        if known is None:
            return None
        seen_s, sight = known
        told = spot.hit.commit if spot.hit else None
        fresh = sight.repository.commit == told if told else self._clock() - seen_s < REMEMBERED_S
        return replace(sight, spot=spot) if fresh else None

    def _learn(self, sight: Sight, offer: Offer, whole: Whole) -> None:
        """Have the next look at the same spot tell what is known now of this choice and of its family."""

        def better(known: tuple[float, Sight]) -> tuple[float, Sight]:
            seen_s, before = known
            if before.repository.commit != sight.repository.commit:
                return known
            return seen_s, replace(before, offers=tuple(learned(each, offer, whole.info) for each in before.offers))

        self._seen.better((sight.spot.repo_id, sight.spot.revision), better)
