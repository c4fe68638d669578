"""Getting the starter model: one fetch at a time, watched by a progress panel."""

from __future__ import annotations

import os

from PySide6.QtCore import QObject, Signal

from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.progress_panel import ProgressPanel


class StarterFetch(QObject):
    """`done` tells that the model is there, `failed` why it is not (Cancelled where the user stopped it)."""

    done = Signal()
    failed = Signal(object)

    def __init__(self, services: Services, panel: ProgressPanel) -> None:
        super().__init__(panel)
        self._services = services
        self._panel = panel
        self._task: Task | None = None

    @property
    def running(self) -> bool:
        """True while it goes on."""
        return self._task is not None

    def start(self) -> None:
        """Get it into the models folder."""
        if self._task is None:
            self._task = self._services.background.stream(self._work, self._done, self._failed, name="starter")
            self._panel.watch(text("Getting SmolLM2-135M-Instruct Q4_1"), self._task)

    def cancel(self) -> None:
        """Stop it; what has come is not a model."""
        if self._task is not None:
            self._task.cancel()

    def _work(self, task: Task) -> object:
        from weighbridge.library.starter import SHA256, fetch  # the Hub's client is heavy

        services = self._services
        path = fetch(services.paths.models, task, services.access, services.network, os.environ)
        services.library.came(path, SHA256)
        return path

    def _done(self, path: object) -> None:
        del path
        self._end()
        self.done.emit()

    def _failed(self, error: BaseException) -> None:
        self._end()
        self.failed.emit(error)

    def _end(self) -> None:
        self._task = None
        self._panel.finish()
