"""Which model messages go to, and what it is doing."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from weighbridge.library.model import Model
from weighbridge.running.state import Running, State
from weighbridge.ui.running_words import in_front, running_of
from weighbridge.ui.services import Services


class ChosenModel(QObject):
    """The user's choice, remembered; before any, the model that is loaded, or the first that can be. One for which what
    is asked of it leaves this computer is taken for want of a choice only where there is no other.
    """

    changed = Signal()
    listed = Signal()
    """The Library is another: the model may be, too."""

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._chosen_id = services.settings.value.last_model
        services.bus.running_changed.connect(self.changed)
        services.bus.library_changed.connect(self.listed)
        services.bus.chat_wanted.connect(self.choose)

    @property
    def models(self) -> tuple[Model, ...]:
        """All that is in the Library."""
        return self._services.library.models

    @property
    def model(self) -> Model | None:
        """The model, or None where there is none that could be loaded."""
        front = in_front(self._services.supervisor.running())
        wished = (self._chosen_id, front.model_id if front is not None else None)
        found = {one.id: one for one in self.models if one.id in wished and one.problem is None}
        chosen, front_one = (found.get(model_id or "") for model_id in wished)
        if chosen is not None or (front_one is not None and not front_one.leaves):
            return chosen or front_one
        whole = [one for one in self.models if one.problem is None]
        return next((one for one in whole if not one.leaves), front_one or next(iter(whole), None))

    @property
    def running(self) -> Running | None:
        """The model's engine, where it has one."""
        model = self.model
        found = running_of(model.id, self._services.supervisor.running()) if model is not None else None
        return None if found is not None and found.state is State.STOPPED else found

    def choose(self, model_id: str) -> None:
        """Send messages to this model from now on."""
        if model_id != self._chosen_id:
            self._chosen_id = model_id
            self._services.settings.change(last_model=model_id)
            self.changed.emit()
