"""What the foot of the Library says: folders with what they hold, what was passed over, what is off the list."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from weighbridge.base.words import text
from weighbridge.library.disk import FolderUse
from weighbridge.library.model import ADDED, Model
from weighbridge.ui import shelf_words
from weighbridge.ui.folders import short
from weighbridge.ui.library_rows import LibraryRows
from weighbridge.ui.pages.library_doubles import PART
from weighbridge.ui.pages.library_foot import LibraryFoot
from weighbridge.ui.pages.library_shelf import Shelf
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.lines_panel import Line

_FOLDERS, _SKIPPED, _OFF = "folders", "skipped", "off"
PARTS = (_FOLDERS, _SKIPPED, PART, _OFF)


class Stock(QObject):
    """Fills `foot`."""

    def __init__(
        self, services: Services, rows: LibraryRows, foot: LibraryFoot, shelf: Shelf, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._rows = rows
        self._foot = foot
        self._shelf = shelf

    @property
    def looked(self) -> str:
        """Where nothing was found: the places that were looked at, and what was passed over and why."""
        drop = text("Drop a file or a folder anywhere in the window to add it where it lies.")
        return "\n".join((shelf_words.nothing_found(self._places(), self._services.library.skipped), drop))

    def show(self) -> None:
        """Say what is known now."""
        library = self._services.library
        files = [model for model in library.models if model.remote is None]
        words = shelf_words.folders_in_words(library.folders, self._rows.disk, len(files))
        home = Path.home()
        lines = [Line(short(use.folder, home), shelf_words.folder_in_words(use)) for use in self._places()]
        self._foot.say(_FOLDERS, words, text("Where models are"), lines)
        skipped = [Line(*shelf_words.skipped_line(error)) for error in library.skipped]
        words = shelf_words.skipped_in_words(library.skipped)
        self._foot.say(_SKIPPED, words, text("What was passed over, and why"), skipped)
        off = [self._off_line(model) for model in library.off_list]
        words = shelf_words.off_in_words(len(off))
        self._foot.say(_OFF, words, text("Off the list; the files stay where they are"), off)

    def _off_line(self, model: Model) -> Line:
        put_back = (text("Put back"), lambda: self._shelf.put_back(model))
        return Line(model.title, short(model.path, Path.home()), (put_back,))

    def _places(self) -> list[FolderUse]:
        """All places, those of the user that are away among them."""
        library, disk = self._services.library, self._rows.disk
        known = list(disk.folders) if disk else [FolderUse(folder) for folder in library.folders]
        there = {use.folder for use in known}
        away = [root.path for root in library.roots if root.source == ADDED and root.path not in there]
        return [*known, *(FolderUse(path, there=False) for path in away)]
