"""Whether a model as it is loaded sees pictures. Pure."""

from __future__ import annotations

from enum import StrEnum

from weighbridge.base.errors import Refused
from weighbridge.library.model import Model
from weighbridge_engines.api import Capability, Engine, Load


class Blind(StrEnum):
    """Why it does not: its engine has no way to, or takes a projector for that and none is loaded."""

    ENGINE = "engine"
    PROJECTOR = "projector"


def sees(model: Model, load: Load) -> bool | None:
    """Whether `model`, loaded by `load`, is shown pictures; None where an endpoint serves it and does not say."""
    return load.projector is not None if model.remote is None else model.remote.sees


def not_shown(model: Model) -> Refused:
    """The refusal to send a picture to `model`, which is not shown any."""
    if model.remote is not None:
        return Refused("picture.not_taken", model=model.id, endpoint=model.remote.endpoint)
    return Refused("picture.not_sent", model=model.title)


def blindness(engine: Engine, load: Load) -> Blind | None:
    """Why what `engine` runs by `load` sees no pictures; None where nothing speaks against it: whether a model sees by
    itself, as with engines that take no projector, is told by the engine's answer.
    """
    if Capability.VISION not in engine.capabilities:
        return Blind.ENGINE
    takes_one = any(control.name == "projector" for control in engine.controls)
    return Blind.PROJECTOR if takes_one and load.projector is None else None
