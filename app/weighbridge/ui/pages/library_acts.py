"""What can be done with the model that is chosen in the Library: actions of the page, and the menus of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from weighbridge.base.words import text
from weighbridge.library.model import Model
from weighbridge.running.state import State
from weighbridge.ui.clipboard import copy
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.pages.library_detail import LibraryDetail
from weighbridge.ui.pages.library_loads import ChosenLoads
from weighbridge.ui.pages.library_shelf import Shelf
from weighbridge.ui.pages.library_table import LibraryTable
from weighbridge.ui.served import address_of
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.parts import action


class ChosenActs(QObject):
    """Actions of `page` on what is chosen in `table`; fills the menu of `detail.more`. Call `show` when another row is
    chosen, or the same one changes.

    A file can be shown, verified, removed, loaded with settings; of what an endpoint serves there is the address, and
    the endpoint to show. `beside`, of what is loaded beside a file, is filled by whoever knows that.
    """

    def __init__(
        self,
        services: Services,
        page: QWidget,
        table: LibraryTable,
        loads: ChosenLoads,
        shelf: Shelf,
        detail: LibraryDetail,
    ) -> None:
        super().__init__(page)
        self._services, self._page, self._table = services, page, table
        self.load = action(page, "", loads.load, "Ctrl+Return")
        self.set = action(page, text("Load with settings…"), loads.set_load, "Ctrl+Shift+Return")
        self.stop = action(page, text("Stop the chosen model"), loads.stop, "Ctrl+.")
        self.pin = action(page, text("Pin or unpin the chosen model"), loads.pin, "Ctrl+Shift+K")
        self.chat = action(page, text("Chat with the chosen model"), loads.chat, "Ctrl+J")
        self.copy = self._on_chosen("", self._copy_place, "Ctrl+Shift+P")
        self.reveal = self._on_chosen(text("Show in the file manager"), shelf.show_in_files, "Ctrl+Shift+E")
        self.verify = self._on_chosen(text("Verify the chosen model"), shelf.verify, "Ctrl+Shift+V")
        self.remove = self._on_chosen(text("Remove the chosen model…"), shelf.remove, "Del")
        self.endpoint = self._on_chosen(text("Show its endpoint"), self._show_endpoint)
        self.note = action(page, text("Write a note on the chosen model"), detail.note.setFocus, "F2")
        self.beside = QMenu(text("Load beside it"), page)
        self._more = QMenu(detail.more)
        self._more.addActions([self.set, self.reveal, self.endpoint, self.copy, self.verify, self.note])
        self._line = self._more.addSeparator()
        self._more.addMenu(self.beside)
        self._more.addAction(self.remove)
        detail.more.setMenu(self._more)
        self.show(None)

    def show(self, row: LibraryRow | None) -> None:
        """Offer what can be done with the model of `row`; None: nothing is chosen."""
        whole = row is not None and row.model.problem is None
        running = None if row is None else row.running
        active = running is not None and running.state is not State.FAILED
        served = row is not None and row.model.remote is not None
        self.load.setText(text("Connect to the chosen model") if served else text("Load the chosen model"))
        self.copy.setText(text("Copy its address") if served else text("Copy the file's path"))
        self.load.setEnabled(whole and not active)
        self.stop.setEnabled(active)
        self.chat.setEnabled(whole)
        self.pin.setEnabled(active and not served)
        self.set.setEnabled(whole and not served)
        for each in (self.copy, self.note):
            each.setEnabled(row is not None)
        self.endpoint.setEnabled(served)
        for each in (self.reveal, self.verify, self.remove):
            each.setEnabled(row is not None and not served)
        self.endpoint.setVisible(served)
        for each in (self.set, self.pin, self.reveal, self.verify, self.remove, self._line, self.beside.menuAction()):
            each.setVisible(not served)

    def show_menu(self, place: QPoint) -> None:
        """All of them, at `place` of the screen."""
        menu = QMenu(self._page)
        menu.addActions([self.load, self.stop, self.pin, self.chat])
        menu.addSeparator()
        menu.addActions(self._more.actions())
        menu.exec(place)
        menu.deleteLater()

    def _copy_place(self, model: Model) -> None:
        copy(str(model.path) if model.remote is None else address_of(self._services, model), self._table)

    def _show_endpoint(self, model: Model) -> None:
        if model.remote is not None:
            self._services.bus.endpoint_shown.emit(model.remote.endpoint_id)

    def _on_chosen(self, words: str, act: Callable[[Model], object], keys: str = "") -> QAction:
        """An action on the chosen model."""

        def do() -> None:
            chosen = self._table.chosen
            if chosen is not None:
                act(chosen.model)

        return action(self._page, words, do, keys)
