"""Showing a model in the Library by the place of one of its files, also where it is found only by the next scan."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLineEdit

from weighbridge.library.model import Model
from weighbridge.ui.pages.library_table import LibraryTable
from weighbridge.ui.services import Services


def model_at(place: Path, models: Iterable[Model]) -> Model | None:
    """The model of which a file lies at `place`."""
    return next((model for model in models if place in (model.path, *model.parts)), None)


class Showing(QObject):
    """Hears `bus.place_wanted` and chooses the model in `table`, past what `search` leaves out."""

    def __init__(self, services: Services, table: LibraryTable, search: QLineEdit) -> None:
        super().__init__(table)
        self._services = services
        self._table = table
        self._search = search
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
        if model is not None:
            self._search.clear()
            self._table.choose(model.id)
        return model is not None
