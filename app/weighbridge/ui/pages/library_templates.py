"""The chat template of the chosen model, read and shown as long as the model was never used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from weighbridge.base.task import Task
from weighbridge.library.folders import repository_of
from weighbridge.library.model import Model
from weighbridge.library.templates import chat_template
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.template_view import TemplateView


class Templates(QObject):
    """Fills `view`."""

    def __init__(self, services: Services, view: TemplateView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._view = view
        self._of: tuple[str, bool] | None = None
        self._task: Task | None = None

    def show(self, row: LibraryRow) -> None:
        """Show that of the model of `row`, once it is read; nothing where it was used, or has none."""
        model, info = row.model, row.model.info
        fresh = row.mark.used_s is None and model.problem is None and bool(info and info.has_chat_template)
        if (model.id, fresh) == self._of:
            return
        self._of = model.id, fresh
        self._view.show_template(None)
        self.quiet()
        if fresh:
            read = partial(self._read, model)
            self._task = self._services.background.run(lambda _task: chat_template(model), read, _ignore)

    def quiet(self) -> None:
        """Read no more."""
        if self._task is not None:
            self._task.cancel()

    def _read(self, model: Model, template: str | None) -> None:
        if self._of == (model.id, True):
            self._view.show_template(template, owner_of(model, self._services.library.folders))


def owner_of(model: Model, folders: Sequence[Path]) -> str:
    """The owner of the repository that a model is of, where its place tells: in the Hub's cache, or as OWNER/NAME/FILE
    below one of `folders`; "" elsewhere.
    """
    repository = repository_of(model.path)
    if repository is not None:
        return repository.partition("/")[0]
    below = [model.path.relative_to(folder).parts for folder in folders if model.path.is_relative_to(folder)]
    deep = 3 if model.path in model.parts else 2
    return next((parts[0] for parts in below if len(parts) == deep), "")


def _ignore(error: BaseException) -> None:
    """A template that cannot be read is not shown; what is wrong with the file its row tells."""
    del error
