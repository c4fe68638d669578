"""Which engine to take for a file, or for what is planned: all that could do, the best first, each with why. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from weighbridge.choices.advice.advice import Ranked, Reason, Standing
from weighbridge.choices.advice.answers import OPEN, Need
from weighbridge.choices.advice.candidate import Candidate, candidates
from weighbridge.choices.advice.getting import action_for, lacks_build, standing_of
from weighbridge.choices.advice.ground import Ground
from weighbridge.choices.advice.hindrances import has_at_least, kept_from, speaks_against
from weighbridge.choices.advice.knowledge import Knowledge, Row, knowledge
from weighbridge.choices.advice.machine_kind import fast_of, hardware_of
from weighbridge.choices.advice.subject import Subject
from weighbridge.estimates.fit import GOOD, Fit
from weighbridge_engines.api import FileFacts


class Wish(StrEnum):
    """What an engine is wanted for."""

    ONE_CHAT = "one_chat"
    MANY_USERS = "many_users"
    LONG_CONTEXT = "long_context"
    LEAST_MEMORY = "least_memory"
    COMPARISON = "comparison"


_ROWS: Mapping[Wish, str] = {
    Wish.MANY_USERS: "many_users",
    Wish.LONG_CONTEXT: "shared",
    Wish.LEAST_MEMORY: "least_memory",
    Wish.COMPARISON: "checking",
}
_DEMOTING = ("one_at_a_time", "leaves_cards", "made_for")
"""What speaks so much against an engine that all others come before it."""


@dataclass(frozen=True)
class Order:
    """In which order engines are thought of: by the `load`, a row of the table, then by the `hardware`. `ready_first`:
    what is here before what is not; `least_first`: what needs the least memory first.
    """

    hardware: str
    load: str = ""
    ready_first: bool = False
    least_first: bool = False

    def rows(self, known: Knowledge) -> Iterator[tuple[str, Row]]:
        """The rows of the table that count, the first before the others, each with the reason for it."""
        if self.load in known.loads:
            yield f"for_{self.load}", known.loads[self.load]
        if self.hardware in known.hardware:
            yield f"on_{self.hardware}", known.hardware[self.hardware]


def choose(
    facts: FileFacts,
    ground: Ground,
    wish: Wish = Wish.ONE_CHAT,
    fits: Mapping[str, Fit] | None = None,
    needs: frozenset[Need] = frozenset(),
) -> tuple[Ranked, ...]:
    """The engines that run files of this format, the best for `wish` first, those that cannot run it here at the end.

    `fits` is how the file stands here, by the ids of engines; what is not there is unknown, and stands in nobody's way.
    """
    users = 1 if wish is not Wish.MANY_USERS else 2
    order = Order(
        hardware_of(ground.around.machine).value,
        _ROWS.get(wish, ""),
        ready_first=wish is Wish.COMPARISON,
        least_first=wish is Wish.LEAST_MEMORY,
    )
    return ranked(ground, order, Subject(facts.format, facts, fits or {}, users, needs))


def ranked(ground: Ground, order: Order, subject: Subject, known: Knowledge | None = None) -> tuple[Ranked, ...]:
    """The engines that run the subject's format in this order, those that cannot run it here at the end."""
    table = known or knowledge()
    able = [one for one in candidates(ground, table) if subject.format in (OPEN, *one.formats)]
    judged = [_judged(one, order, subject, table) for one in able]
    places = _places(order, table)
    return tuple(sorted(judged, key=lambda one: _key(one, order, subject, places)))


def _judged(candidate: Candidate, order: Order, subject: Subject, known: Knowledge) -> Ranked:
    kept = kept_from(candidate, subject, known)
    made = Ranked(candidate.id, candidate.title, Standing.IMPOSSIBLE, against=kept)
    if kept:
        return made
    return replace(
        made,
        standing=standing_of(candidate),
        why=tuple(_why(candidate, order, subject, known)),
        against=(*speaks_against(candidate, subject, known), *_not_got(candidate)),
        action=action_for(candidate),
    )


def _not_got(candidate: Candidate) -> Iterator[Reason]:
    if lacks_build(candidate):
        yield Reason("no_build", {"device": fast_of(candidate.ground.around.machine).name})


def _places(order: Order, known: Knowledge) -> Mapping[str, tuple[int, int]]:
    """Where each engine stands: its group (first or also, row by row), and its place in there."""
    places: dict[str, tuple[int, int]] = {}
    groups = [group for _, row in order.rows(known) for group in (row.first, row.also)]
    for number, group in enumerate((*groups, tuple(known.engines))):
        for place, engine_id in enumerate(group):
            places.setdefault(engine_id, (number, place))
    return places


def _key(one: Ranked, order: Order, subject: Subject, places: Mapping[str, tuple[int, int]]) -> tuple[float, ...]:
    """The least is the best."""
    demoted = sum(reason.code in _DEMOTING for reason in one.against)
    absent = one.standing is not Standing.READY
    fit = subject.fits.get(one.engine_id)
    needs = fit.estimate.total_bytes if fit is not None and order.least_first else None
    group, place = places[one.engine_id]
    return (
        not one.possible,
        absent if order.ready_first else 0,
        demoted,
        float("inf") if needs is None else needs,
        group,
        absent,
        place,
    )


def _why(candidate: Candidate, order: Order, subject: Subject, known: Knowledge) -> Iterator[Reason]:
    named = {"engine": candidate.title}
    rows = [(code, row) for code, row in order.rows(known) if candidate.id in row.all]
    codes = [code if candidate.id in row.first else f"beside_{candidate.id}" for code, row in rows]
    yield from (Reason(code, named) for code in dict.fromkeys(codes))
    fast = fast_of(candidate.ground.around.machine)
    least = candidate.cards.get("nvidia", "")
    if fast.vendor == "nvidia" and least and has_at_least(fast.capability, least):
        yield Reason("capability_enough", {**named, "capability": fast.capability, "least": least})
    kernel = known.kernels.get(subject.format, "")
    if fast.vendor == "nvidia" and kernel and has_at_least(fast.capability, kernel):
        values = {"format": subject.format, "capability": fast.capability, "least": kernel}
        yield Reason("kernel", values)
    if subject.users > 1 and candidate.known.serves:
        yield Reason("batches", {**named, "users": subject.users})
    fit = subject.fits.get(candidate.id)
    if fit is not None and fit.verdict in GOOD:
        yield Reason("it_fits", {**named, "fit": fit})
    if candidate.attached is not None:
        yield Reason("is_attached", {"title": candidate.attached})
    if candidate.here:
        version = candidate.engine.version() if candidate.engine else None
        yield Reason("is_here", {**named, "version": version})
