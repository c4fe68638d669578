"""The hardware first: what it is good for, and what its figures say of the load. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.choices.advice.advice import Action, ActionKind, Point, Reason, Topic
from weighbridge.choices.advice.answers import Prompt, Purpose, Room
from weighbridge.choices.advice.case import Case

_BOUND = {Prompt.SHORT: "bound_by_bandwidth", Prompt.LONG: "bound_by_compute", Prompt.MIXED: "bound_by_both"}
_OF_ROOM = {Room.PARTLY: "room_partly", Room.SYSTEM: "room_system", Room.UNIFIED: "room_unified"}


def hardware_point(case: Case) -> Point:
    """What the machine is, and which of its figures decides."""
    fast = case.fast
    values = {
        "kind": case.answers.hardware.value,
        "device": fast.name,
        "cards": case.cards,
        "bytes": fast.total_bytes,
        "gbs": fast.gbs,
        "capability": fast.capability,
    }
    measure = Action(ActionKind.MEASURE, command="weighbridge hardware --measure") if _can_measure(case) else None
    return Point(Topic.HARDWARE, Reason("hardware", values), tuple(_why(case)), tuple(_against(case)), measure)


def _can_measure(case: Case) -> bool:
    return case.fast.gbs is None and not case.ground.elsewhere


def _why(case: Case) -> Iterator[Reason]:
    fast, answers, room = case.fast, case.answers, case.room
    most = None
    if fast.gbs is not None and fast.total_bytes:
        most = fast.gbs * 1e9 / (fast.total_bytes / fast.count)
    each = None if fast.total_bytes is None else fast.total_bytes // fast.count
    yield Reason(_BOUND[answers.prompt], {"gbs": fast.gbs, "bytes": each, "most_tps": most})
    if room in _OF_ROOM:
        yield Reason(_OF_ROOM[room])
    if answers.purpose is Purpose.FLEET:
        yield Reason("fleet")


def _against(case: Case) -> Iterator[Reason]:
    fast = case.fast
    if case.told.hardware is not case.answers.hardware:
        yield Reason("fleet_elsewhere")
    if case.ground.imagined:
        yield Reason("only_kind_known")
        return
    if fast.total_bytes is None:
        yield Reason("memory_unknown")
    if fast.gbs is None:
        yield Reason("bandwidth_unknown", {"device": fast.name})
    if fast.vendor == "nvidia" and fast.capability is None:
        yield Reason("capability_of_card_unknown", {"device": fast.name})
