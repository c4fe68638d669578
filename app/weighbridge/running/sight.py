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


def sees(model: Model, load: Load, *, alone: bool = False) -> bool | None:
    """Whether `model`, loaded by `load`, is shown pictures. None where an endpoint serves it and does not say, and
    where it may see `alone`, as its engine runs it: then the answer tells.
    """
    if model.remote is not None:
        return model.remote.sees
    return True if load.projector is not None else (None if alone else False)


def sees_alone(engine: Engine) -> bool:
    """Whether models may see pictures by themselves as `engine` runs them: it takes no projector."""
    return Capability.VISION in engine.capabilities and not _takes_projector(engine)


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
    return Blind.PROJECTOR if _takes_projector(engine) and load.projector is None else None


def _takes_projector(engine: Engine) -> bool:
    return any(control.name == "projector" for control in engine.controls)
