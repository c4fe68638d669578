"""Whether a model is shown pictures, loaded or not yet. No Qt here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.base.errors import WeighbridgeError
from weighbridge.running.choose import engine_for
from weighbridge.running.sight import sees, sees_alone
from weighbridge.running.state import State
from weighbridge.ui.running_words import running_of

if TYPE_CHECKING:
    from weighbridge.library.model import Model
    from weighbridge.ui.services import Services
    from weighbridge_engines.api import Load


def is_shown(services: Services, model: Model, load: Load) -> bool | None:
    """Whether `model` is shown pictures by `load`; None where its answer will tell."""
    return sees(model, load, alone=model.remote is None and _alone(services, model, load))


def _alone(services: Services, model: Model, load: Load) -> bool:
    """By the engine that has it, else by the one that would be taken."""
    running = running_of(model.id, services.supervisor.running())
    if running is not None and running.state in (State.LOADING, State.READY):
        return running.sees_alone
    try:
        return sees_alone(engine_for(model, services.weighing.sources.engines.values(), load))
    except WeighbridgeError:
        return False
