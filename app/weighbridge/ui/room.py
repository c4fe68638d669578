"""Which models a load would end, asked of the supervisor before anybody loads."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from weighbridge.library.model import Model
from weighbridge.ui.running_words import ends_in_words
from weighbridge.ui.services import Services
from weighbridge_engines.api import Load


class Room(QObject):
    """The last answer, in words. `changed` is emitted in the GUI thread."""

    changed = Signal()

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._asked = 0
        self.words = ""
        """ "Loading this ends: …"; "" where nothing would end, or it is not known yet."""

    def ask(self, model: Model | None, load: Load | None) -> None:
        """Find out for `model`; None: nothing is to be loaded. An older question is forgotten."""
        self._asked += 1
        if model is None or load is None or not self._services.supervisor.running():
            self._say("")
            return
        future = self._services.supervisor.would_end(model, load)
        self._services.background.follow(future, partial(self._answered, self._asked), _ignore)

    def _answered(self, asked: int, model_ids: tuple[str, ...]) -> None:
        if asked == self._asked:
            self._say(ends_in_words(model_ids, self._services.supervisor.running()))

    def _say(self, words: str) -> None:
        if words != self.words:
            self.words = words
            self.changed.emit()


def _ignore(error: BaseException) -> None:
    """A question that was given up."""
    del error
