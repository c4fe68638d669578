"""The answers that the machine, the library and the settings give by themselves, each with where it is from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from weighbridge.choices.advice.advice import Reason
from weighbridge.choices.advice.answers import Answers, Link, ModelKind, Room
from weighbridge.choices.advice.at_hand import model_for
from weighbridge.choices.advice.case import Case, case_of
from weighbridge.choices.advice.ground import Ground
from weighbridge.choices.advice.machine_kind import cards_of, fast_of, hardware_of
from weighbridge.choices.choice import Choice
from weighbridge.estimates.fit import Verdict
from weighbridge.formats.variant import Role

MOST_ENGINES = 3
"""So many engines are tried for a model that is here."""


@dataclass(frozen=True)
class Prefilled:
    """The answers, and by the names of their fields where they are from: what nobody told is "usual"."""

    answers: Answers
    basis: Mapping[str, Reason]


def prefilled(ground: Ground, given: Mapping[str, Any] | None = None) -> Prefilled:
    """The answers for the machine of `ground`, the models on its shelf and its settings. Where some are `given`, by
    their fields, the others are those that go with them; for the given ones it is still told what they would be.
    """
    machine = ground.around.machine
    here = fast_of(machine)
    answers = Answers(hardware=hardware_of(machine), context=ground.context)
    case = case_of(replace(answers, **(given or {})), ground)
    choice = _model_here(case)
    answers = replace(answers, room=_room(choice, case), kind=_kind(choice), link=_link(case))
    basis = {name: Reason("usual") for name in Answers.__dataclass_fields__}
    seen = {"device": here.name, "cards": here.count, "bytes": here.total_bytes}
    basis |= {
        "hardware": Reason("from_machine", seen),
        "context": Reason("from_settings"),
        "link": _of_link(case, answers.link),
    }
    if choice is not None:
        told = [name for name in ("room", "kind") if getattr(answers, name) not in (Room.UNKNOWN, ModelKind.UNKNOWN)]
        basis |= dict.fromkeys(told, Reason("from_model", {"model": choice.model.title}))
    if case.only_room is not None:
        basis["room"] = Reason("one_memory" if case.fast.unified else "no_card")
    return Prefilled(answers, basis)


def _model_here(case: Case) -> Choice | None:
    """The model that would be loaded: of the first engine for which there is one here."""
    able = [one for one in case.engines if one.possible][:MOST_ENGINES]
    found = (model_for(case, case.candidate(one.engine_id)) for one in able)
    return next((choice for choice in found if choice is not None), None)


def _room(choice: Choice | None, case: Case) -> Room:
    if case.only_room is not None:
        return case.only_room
    if choice is None or choice.fit is None or choice.fit.verdict is Verdict.UNKNOWN:
        return Room.UNKNOWN
    if choice.fit.verdict is Verdict.PARTIAL:
        return Room.PARTLY
    return Room.SYSTEM if choice.fit.gpu_layers in (None, 0) else Room.FAST


def _kind(choice: Choice | None) -> ModelKind:
    if choice is None or choice.model.info is None:
        return ModelKind.UNKNOWN
    if choice.model.info.experts:
        return ModelKind.MOE
    if choice.model.companion(Role.PROJECTOR) is not None:
        return ModelKind.MULTIMODAL
    kinds = choice.blueprint.shape.kinds if choice.blueprint is not None else ()
    if any(layer.state for layer in kinds):
        return ModelKind.HYBRID
    return ModelKind.DENSE if kinds else ModelKind.UNKNOWN


def _link(case: Case) -> Link:
    if case.fast.count == 1:
        return Link.NONE
    joined = {card.nvlink for card in cards_of(case.ground.around.machine)}
    if joined == {True}:
        return Link.NVLINK
    return Link.PCIE if joined == {False} else Link.UNKNOWN


def _of_link(case: Case, link: Link) -> Reason:
    if case.fast.count == 1:
        return Reason("one_device")
    if link is not Link.UNKNOWN:
        return Reason("link_told")
    return Reason("usual") if case.cards is None else Reason("link_not_told", {"cards": case.cards})
