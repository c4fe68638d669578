"""What a message asks of a load beyond its own options: nothing that changes how the model is loaded. No Qt here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.running.state import State
from weighbridge.ui.running_words import running_of
from weighbridge_engines.api import Load

if TYPE_CHECKING:  # built elsewhere: the window shows before it is
    from weighbridge.library.model import Model
    from weighbridge.running.supervisor import Supervisor


def base_load(supervisor: Supervisor, model: Model) -> Load:
    """How `model` is loaded, or is being loaded; else how it would be. What was set elsewhere is not undone here."""
    running = running_of(model.id, supervisor.running())
    if running is not None and running.state in (State.LOADING, State.READY):
        return running.load
    return supervisor.default_load(model)
