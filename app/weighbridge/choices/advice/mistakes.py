"""Common mistakes, and other things to look out for: those that apply to a case. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.choices.advice.advice import Ranked, Reason
from weighbridge.choices.advice.answers import LONG_CONTEXT, Goal, Hardware, Link, ModelKind, Need, Purpose, Room
from weighbridge.choices.advice.at_hand import conversations
from weighbridge.choices.advice.candidate import Candidate
from weighbridge.choices.advice.case import Case
from weighbridge.choices.choice import Choice

SLOW_GBS, MUCH_BYTES = 300.0, 48 << 30
"""So much memory below so much bandwidth holds models that it writes slowly."""

_WEAK = (Link.PCIE, Link.ETHERNET, Link.THUNDERBOLT)
_GAPS = (Need.JSON_SCHEMA, Need.TOOLS)


def warnings_for(case: Case, engine: Candidate, ranked: Ranked, choice: Choice | None) -> tuple[Reason, ...]:
    """What to look out for in this case."""
    makers = (
        _of_answers(case),
        _of_memory(case),
        _of_cache(case, engine, choice),
        _of_cards(case),
        _of_serving(case, engine),
    )
    found = [reason for made in makers for reason in made]
    found += [*_of_model(case), *_of_measuring(case, engine), *_of_getting(ranked)]
    return tuple(found)


def _of_answers(case: Case) -> Iterator[Reason]:
    """Answers that do not go together: which of them is gone by."""
    told, fast = case.told, case.fast
    if fast.vendor == "cpu" and told.room in (Room.FAST, Room.PARTLY, Room.UNIFIED):
        yield Reason("room_without_card")
    if fast.unified and told.room in (Room.FAST, Room.PARTLY, Room.SYSTEM):
        yield Reason("room_is_one")
    if fast.vendor != "cpu" and not fast.unified and told.room is Room.UNIFIED:
        yield Reason("room_is_two")
    if told.purpose is Purpose.FLEET:
        return
    if fast.count == 1 and told.link not in (Link.NONE, Link.UNKNOWN):
        yield Reason("link_of_one")
    if fast.count > 1 and told.link is Link.NONE:
        yield Reason("link_of_several")


def _of_memory(case: Case) -> Iterator[Reason]:
    fast = case.fast
    if fast.total_bytes is None or fast.gbs is None:
        return
    each = fast.total_bytes // fast.count
    if fast.total_bytes >= MUCH_BYTES and fast.gbs < SLOW_GBS:
        yield Reason("by_memory_alone", {"bytes": each, "gbs": fast.gbs, "most_tps": fast.gbs * 1e9 / each})


def _of_cache(case: Case, engine: Candidate, choice: Choice | None) -> Iterator[Reason]:
    total, kv_bytes = case.answers.context * case.answers.users, None
    if total < LONG_CONTEXT:
        return
    if choice is not None:
        total, kv_bytes = conversations(case, engine, choice)
    yield Reason("cache_ignored", {"total": total, "kv_bytes": kv_bytes})


def _of_cards(case: Case) -> Iterator[Reason]:
    answers, fast = case.answers, case.fast
    if fast.count > 1 and answers.link in _WEAK:
        yield Reason("tensor_on_weak_link", {"link": answers.link.value})
    if answers.hardware in (Hardware.AMD_CARD, Hardware.AMD_SERVER):
        yield Reason("numbers_of_others")


def _of_serving(case: Case, engine: Candidate) -> Iterator[Reason]:
    answers = case.answers
    if answers.serves and not engine.known.serves:
        yield Reason("local_as_public", {"engine": engine.title, "users": answers.users})
    if answers.goal is Goal.PRIVACY and engine.known.preset:
        yield Reason("address_counts", {"engine": engine.title})
    if engine.known.preset or any(need in answers.needs for need in _GAPS):
        yield Reason("openai_gaps")


def _of_model(case: Case) -> Iterator[Reason]:
    if case.answers.kind is ModelKind.MOE:
        yield Reason("experts_count")
    elif case.answers.kind in (ModelKind.HYBRID, ModelKind.MULTIMODAL):
        yield Reason("architecture_ignored", {"kind": case.answers.kind.value})


def _of_measuring(case: Case, engine: Candidate) -> Iterator[Reason]:
    if case.answers.users > 1:
        yield Reason("measured_alone", {"users": case.answers.users})
    if case.answers.goal is Goal.THROUGHPUT or case.answers.purpose is Purpose.CHECKING:
        yield Reason("charts_without_load", {"engine": engine.title})


def _of_getting(ranked: Ranked) -> Iterator[Reason]:
    if ranked.action is not None and not ranked.action.verified:
        yield Reason("unverified", {"build": ranked.action.title})
