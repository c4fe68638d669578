"""The answers that the machine, the library and the settings give by themselves, each with where it is from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from weighbridge.choices.advice.advice import Reason
from weighbridge.choices.advice.answers import Answers, Hardware, Link, ModelKind, Room
from weighbridge.choices.advice.at_hand import model_for
from weighbridge.choices.advice.case import Case, case_of
from weighbridge.choices.advice.ground import Ground
from weighbridge.choices.advice.machine_kind import fast_of, hardware_of
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


def prefilled(ground: Ground, context: int) -> Prefilled:
    """The answers for the machine of `ground` and the models on its shelf; `context` is that of the settings."""
    machine = ground.around.machine
    fast, hardware = fast_of(machine), hardware_of(machine)
    link = Link.NONE if fast.count == 1 or hardware is Hardware.APPLE else Link.UNKNOWN
    answers = Answers(hardware=hardware, context=context, link=link)
    choice = _model_here(case_of(answers, ground))
    answers = replace(answers, room=_room(choice, ground, hardware), kind=_kind(choice))
    seen = {"device": fast.name, "cards": fast.count, "bytes": fast.total_bytes, "elsewhere": ground.elsewhere}
    basis = {name: Reason("usual") for name in Answers.__dataclass_fields__}
    basis |= {
        "hardware": Reason("from_machine", seen),
        "context": Reason("from_settings"),
        "link": _of_link(fast.count),
    }
    if choice is not None:
        basis |= dict.fromkeys(("room", "kind"), Reason("from_model", {"model": choice.model.title}))
    return Prefilled(answers, basis)


def _model_here(case: Case) -> Choice | None:
    """The model that would be loaded: of the first engine for which there is one here."""
    able = [one for one in case.engines if one.possible][:MOST_ENGINES]
    found = (model_for(case, case.candidate(one.engine_id)) for one in able)
    return next((choice for choice in found if choice is not None), None)


def _room(choice: Choice | None, ground: Ground, hardware: Hardware) -> Room:
    fast = fast_of(ground.around.machine)
    if fast.vendor == "cpu":
        return Room.SYSTEM
    if hardware is Hardware.APPLE or fast.unified:
        return Room.UNIFIED
    if choice is None or choice.fit is None:
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


def _of_link(count: int) -> Reason:
    return Reason("one_device") if count == 1 else Reason("link_not_told", {"cards": count})
