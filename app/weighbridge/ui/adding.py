"""Adding files and folders to the Library where they lie: looked at off the GUI thread, told, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from weighbridge.base.errors import Cancelled, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.library.adding import Additions, look_at
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.question import Question

_KNOWN = "adding.known"
_ENDINGS = "*.gguf *.kcpps *.safetensors *.onnx *.xml"
_MOST = 3
"""So many names are said; the rest is counted."""


class Adding(QObject):
    """Tells in `question` what was added. `refused` tells errors, why others were not."""

    refused = Signal(object)

    def __init__(self, services: Services, question: Question, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._question = question
        self._task: Task | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being looked at."""
        return self._task is not None

    def cancel(self) -> None:
        """Give it up; nothing is added."""
        if self._task is not None:
            self._task.cancel()

    def add(self, paths: Sequence[Path]) -> None:
        """Add what lies at `paths`; a second look waits for nothing: it takes the place of the first."""
        self.cancel()
        library = self._services.library

        def look(task: Task) -> Additions:
            return look_at(paths, library, Path.home(), task)

        self._task = self._services.background.stream(look, partial(self._looked, paths), self._failed, "adding")
        said = text("Looking for models in {names}…", names=_names(paths))
        self._question.ask(said, ((text("Cancel"), self.cancel),), focus=None)

    def choose_files(self) -> None:
        """Let the user choose files, and add them."""
        title, kinds = text("Add models"), text("Models ({endings})", endings=_ENDINGS)
        chosen, _ = QFileDialog.getOpenFileNames(self._question, title, "", ";;".join((kinds, text("All files (*)"))))
        if chosen:
            self.add([Path(each) for each in chosen])

    def choose_folder(self) -> None:
        """Let the user choose a folder, and add it."""
        chosen = QFileDialog.getExistingDirectory(self._question, text("Add a folder with models"))
        if chosen:
            self.add([Path(chosen)])

    def _looked(self, paths: Sequence[Path], found: Additions) -> None:
        self._task = None
        self._question.hide()
        settings = self._services.settings
        before = {name: getattr(settings.value, name) for name in found.changes(settings.value)}
        try:
            for model in found.back:
                self._services.marks.put_back(model)
            found.apply(settings)
        except WeighbridgeError as error:
            self.refused.emit([error])
            return
        added = [*found.folders, *found.files, *(model.path for model in found.back)]
        if added:
            said = text("Added: {names}. Nothing was copied or moved.", names=_names(added))
            undo = ((text("Undo"), lambda: settings.change(**before)),) if before else ()
            self._question.ask(said, undo, focus=None)
        wrong = [error for error in found.refused if error.code != _KNOWN]
        if wrong:
            self.refused.emit(wrong)
        known = [Path(str(error.values["path"])) for error in found.refused if error.code == _KNOWN]
        for path in (*added, *known)[:1]:
            self._services.bus.place_wanted.emit(path)

    def _failed(self, error: BaseException) -> None:
        self._task = None
        self._question.hide()
        if isinstance(error, WeighbridgeError) and not isinstance(error, Cancelled):
            self.refused.emit([error])


def _names(paths: Sequence[Path]) -> str:
    """The first names, and how many more."""
    names = ", ".join(path.name or str(path) for path in paths[:_MOST])
    left = len(paths) - _MOST
    return names if left <= 0 else text("{names} and {count} more", names=names, count=left)
