"""Has drafts reckoned off the GUI thread, the last one only."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from weighbridge.base.task import Task
from weighbridge.library.model import Model
from weighbridge.ui.load.draft import Draft
from weighbridge.ui.load.reckoning import Asked, Reckoned, reckon
from weighbridge.ui.services import Services


class Reckoner(QObject):
    """`done` tells a draft and what it comes to, in the GUI thread. An older question is forgotten."""

    done = Signal(object, object)

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._task: Task | None = None

    def ask(self, model: Model, draft: Draft) -> None:
        """Reckon `draft` on this machine; nothing comes while that is not known."""
        weighing = self._services.weighing
        around = weighing.here()
        self.quiet()
        if around is None:
            return
        sources = weighing.sources
        asked = Asked(model, draft, around, self._services.library.models, sources.speeds.runs)
        done = partial(self._done, draft)
        self._task = self._services.background.run(lambda task: reckon(asked, sources, task), done, _ignore)

    def quiet(self) -> None:
        """Nothing more is wanted."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _done(self, draft: Draft, reckoned: Reckoned) -> None:
        self._task = None
        self.done.emit(draft, reckoned)


def _ignore(error: BaseException) -> None:
    """A draft that was changed meanwhile, or a file that has just gone: the next scan tells."""
    del error
