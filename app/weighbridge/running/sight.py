"""Whether a model as it is loaded sees pictures. Pure."""

from __future__ import annotations

from enum import StrEnum

from weighbridge_engines.api import Capability, Engine, Load


class Blind(StrEnum):
    """Why it does not: its engine has no way to, or no projector is loaded with it."""

    ENGINE = "engine"
    PROJECTOR = "projector"


def blindness(engine: Engine, load: Load) -> Blind | None:
    """Why what `engine` runs by `load` sees no pictures; None where it does. What a server of somebody else sees is
    told by its answer.
    """
    if Capability.VISION not in engine.capabilities:
        return Blind.ENGINE
    return Blind.PROJECTOR if engine.attach is None and load.projector is None else None
