"""Loading, keeping and ending the model that is chosen in the Library, and chatting with it."""

from __future__ import annotations

from weighbridge.base.errors import Cancelled
from weighbridge.library.model import Model
from weighbridge.ui.asking import Asking
from weighbridge.ui.pages.library_table import LibraryTable
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge_engines.api import Load


class ChosenLoads:
    """Acts on what is chosen in `table`. `errors` shows what never came as far as an engine."""

    def __init__(self, services: Services, table: LibraryTable, errors: ErrorPanel) -> None:
        self._services = services
        self._asking = Asking(services, table)
        self._table = table
        self._errors = errors

    def load(self) -> None:
        """Load it as it is weighed; where it will not fit, as is chosen."""
        chosen = self._table.chosen
        if chosen is None or chosen.model.problem is not None:
            return
        self._asking.before(chosen.model, self._services.weighing.load_to_make(chosen.model), self._make)

    def set_load(self) -> None:
        """Load it with settings."""
        chosen = self._table.chosen
        if chosen is not None and chosen.model.problem is None and chosen.model.remote is None:
            self._services.bus.load_wanted.emit(chosen.model.id, self._services.weighing.load_of(chosen.model))

    def stop(self) -> None:
        """End its engine, also while it loads."""
        chosen = self._table.chosen
        if chosen is not None and chosen.running is not None:
            self._services.supervisor.stop(chosen.model.id)

    def pin(self) -> None:
        """Keep it loaded, or no longer."""
        chosen = self._table.chosen
        if chosen is not None and chosen.running is not None:
            self._services.supervisor.pin(chosen.model.id, not chosen.running.pinned)

    def chat(self) -> None:
        """Chat with it."""
        chosen = self._table.chosen
        if chosen is not None and chosen.model.problem is None:
            self._services.bus.chat_wanted.emit(chosen.model.id)

    def _make(self, model: Model, load: Load) -> None:
        self._errors.hide()
        self._services.background.follow(self._asking.make(model, load), _ignore, self._failed)

    def _failed(self, error: BaseException) -> None:
        """What the engine itself failed with stands in the model's own panel; here what never came so far."""
        chosen = self._table.chosen
        if not isinstance(error, Cancelled) and (chosen is None or chosen.running is None):
            self._errors.show_error(error)


def _ignore(value: object) -> None:
    """What a load ends in is told by `running_changed`."""
    del value
