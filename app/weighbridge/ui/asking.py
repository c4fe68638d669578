"""Asking before a load that will not fit: one way for the Library, the chat and the load sheet."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.choices.finding import Finding
from weighbridge.library.model import Model
from weighbridge.running.state import Running, State
from weighbridge.ui.fixing import Fixing, Go
from weighbridge.ui.running_words import running_of
from weighbridge.ui.services import Services
from weighbridge_engines.api import Load


@dataclass(frozen=True)
class Unmet:
    """A load that will not fit, with the ways out. `go` makes what is chosen, which may be a load of another model."""

    finding: Finding
    go: Go


class Asking(QObject):
    """Lets through what may fit, and has the window ask before what will not. Of the GUI thread."""

    def __init__(self, services: Services, parent: QObject) -> None:
        super().__init__(parent)
        self._services = services
        self._fixing = Fixing(services)
        self._task: Task | None = None

    def before(self, model: Model, load: Load, go: Go) -> None:
        """Have `go` make `load`: now where the model is loaded so already, where it may fit, or where nobody knows.

        Else `go` is called with what is chosen, and never where nothing is. An older question is forgotten.
        """
        self.forget()
        if self._is_held(model, load) or not self._fixing.is_unmet(model, load):
            go(model, load)
            return
        found = partial(self._found, model, load, go)
        failed = partial(self._failed, model, load, go)
        self._task = self._services.background.run(partial(self._fixing.unmet, model, load), found, failed)

    def make(self, model: Model, load: Load) -> Future[Running]:
        """Load `model` as `load` says, which is what the user asked for last."""
        services = self._services
        future = services.supervisor.load(model, load)
        services.settings.change(last_model=model.id)
        services.bus.load_made.emit(model.id, load)
        return future

    def forget(self) -> None:
        """Nobody waits for the answer any more."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._services.bus.unmet_found.emit(None)

    def _is_held(self, model: Model, load: Load) -> bool:
        running = running_of(model.id, self._services.supervisor.running())
        return running is not None and running.state in (State.LOADING, State.READY) and running.load == load

    def _found(self, model: Model, load: Load, go: Go, finding: Finding | None) -> None:
        self._task = None
        if finding is None:
            go(model, load)
        else:
            self._services.bus.unmet_found.emit(Unmet(finding, go))

    def _failed(self, model: Model, load: Load, go: Go, error: BaseException) -> None:
        """A look ahead stands in nobody's way."""
        if not isinstance(error, Cancelled):
            self._task = None
            go(model, load)
