"""Showing a model in the Library by the place of one of its files, also where it is found only by the next scan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject

from weighbridge.library.model import Model
from weighbridge.ui.pages.library_table import LibraryTable
from weighbridge.ui.services import Services


def model_at(place: Path, models: Iterable[Model]) -> Model | None:
    """The model of which a file lies at `place`, else the first one below it."""
    listed = tuple(models)
    own = (model for model in listed if place in (model.path, *model.parts))
    return next(own, None) or next((model for model in listed if place in model.path.parents), None)


class Showing(QObject):
    """Hears `bus.place_wanted` and chooses the model in `table`; `show_all` has it show what filters leave out."""

    def __init__(self, services: Services, table: LibraryTable, show_all: Callable[[], object]) -> None:
        super().__init__(table)
        self._services = services
        self._table = table
        self._show_all = show_all
        self._wanted: Path | None = None
        services.bus.place_wanted.connect(self._want)
        services.bus.library_changed.connect(self._scanned)

    def _want(self, place: Path) -> None:
        if not self._choose(place):
            self._wanted = place
            self._services.bus.scan_wanted.emit()

    def _scanned(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._choose(wanted)

    def _choose(self, place: Path) -> bool:
        model = model_at(place, self._services.library.models)
        if model is None:
            return False
        if self._table.place_of(model.id) is None:
            self._show_all()
        if self._table.place_of(model.id) is None:
            return False  # it was listed just now, and is not in the table yet
        self._table.choose(model.id)
        return True
