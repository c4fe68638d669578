"""What is done with the files of models and with what is written on them: notes, verifying, removing, off the list."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from PySide6.QtCore import QObject, Signal

from weighbridge.base.errors import Cancelled, Refused, WeighbridgeError
from weighbridge.base.explain import explain_code
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.hub.jobs import ENDED
from weighbridge.library.model import Model
from weighbridge.library.removal import Removal, into_bin, plan, refusal, remove
from weighbridge.library.verifying import Verified
from weighbridge.running.state import Running, State
from weighbridge.ui.removal_words import removal_in_words
from weighbridge.ui.reveal import reveal
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.progress_panel import ProgressPanel
from weighbridge.ui.widgets.question import Question

_GONE = (State.STOPPED, State.FAILED)


class Shelf(QObject):
    """Acts on models; asks in `question`, shows long work in `progress`.

    `verified` tells a Model and what came of it in words; `failed` an error. What is written on models is told by the
    marks themselves.
    """

    verified = Signal(object, str)
    failed = Signal(object)

    def __init__(self, services: Services, question: Question, progress: ProgressPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._services = services
        self._question = question
        self._progress = progress
        self._verifying: Task | None = None

    @property
    def busy(self) -> bool:
        """Whether a model is being verified."""
        return self._verifying is not None

    def cancel(self) -> None:
        """Give up verifying."""
        if self._verifying is not None:
            self._verifying.cancel()

    def note(self, model: Model, note: str) -> None:
        """Write `note` on `model`."""
        self._mark(lambda: self._services.marks.write_note(model, note))

    def show_in_files(self, model: Model) -> None:
        """Show the model in the system's file manager."""
        reveal(model.path, self._services.background)

    def verify(self, model: Model) -> None:
        """Read all of `model` again, and compare it with what is known of it."""
        if self._verifying is not None:
            return
        work = partial(self._services.library.verify, model)
        self._verifying = self._services.background.stream(
            work, partial(self._verified, model), self._verifying_failed, "verifying"
        )
        self._progress.watch(text("Verifying {model}", model=model.title), self._verifying)

    def remove(self, model: Model) -> None:
        """Ask whether the files of `model` are to go to the bin; one that is not ours is only taken off the list."""
        models, own = self._services.library.all_models, self._services.paths.models
        self._services.background.run(lambda _task: plan(model, models, own), self._planned, self.failed.emit)

    def take_off(self, model: Model) -> None:
        """Leave `model` out of the list; its files stay. It can be undone."""
        self._mark(lambda: self._services.marks.take_off(model))
        said = text("{model} is off the list. Its files stay where they are.", model=model.title)
        self._question.ask(said, ((text("Undo"), lambda: self.put_back(model)),), focus=None)

    def put_back(self, model: Model) -> None:
        """Have `model` on the list again."""
        self._mark(lambda: self._services.marks.put_back(model))

    def _mark(self, write: Callable[[], None]) -> None:
        try:
            write()
        except WeighbridgeError as error:
            self.failed.emit(error)

    def _planned(self, removal: Removal) -> None:
        if removal.only_off_list:
            self.take_off(removal.model)
            return
        if self._is_refused(removal):
            return
        bin_it = text("Move to the Recycle Bin") if sys.platform == "win32" else text("Move to the bin")
        answers = ((bin_it, lambda: self._remove(removal)), (text("Keep it"), None))
        self._question.ask(removal_in_words(removal), answers, focus=1)

    def _is_refused(self, removal: Removal) -> bool:
        """Whether it cannot be now; why is told."""
        running = [each for each in self._services.supervisor.running() if each.state not in _GONE]
        refused = refusal(removal, set(_held(running)), ()) or self._fetched(removal)
        if refused is not None:
            self.failed.emit(refused)
        return refused is not None

    def _fetched(self, removal: Removal) -> Refused | None:
        """Why it cannot be, where a file of it is being fetched."""
        jobs = self._services.downloads.snapshot.jobs
        places = [view.place for view in jobs if view.state not in ENDED]
        going = [each.path for each in removal.going]
        busy = any(path.is_relative_to(place) for path in going for place in places)
        return Refused("model.fetched_now", model=removal.model.id) if busy else None

    def _remove(self, removal: Removal) -> None:
        if self._is_refused(removal):  # while the question stood there, it was loaded or fetched
            return
        self._services.background.run(lambda _task: remove(removal, into_bin), self._removed, self._removing_failed)

    def _removed(self, done: None) -> None:
        del done
        self._services.bus.scan_wanted.emit()

    def _removing_failed(self, error: BaseException) -> None:
        self.failed.emit(error)
        self._services.bus.scan_wanted.emit()  # some files may be gone

    def _verified(self, model: Model, found: Verified) -> None:
        self._verifying_over()
        if found.fault is not None:
            self.failed.emit(found.fault)
        self.verified.emit(model, explain_code(found.told.code, found.told.values).what if found.sound else "")

    def _verifying_failed(self, error: BaseException) -> None:
        self._verifying_over()
        if not isinstance(error, Cancelled):
            self.failed.emit(error)

    def _verifying_over(self) -> None:
        self._verifying = None
        self._progress.finish()


def _held(running: Iterable[Running]) -> Iterator[str]:
    """The models that are loaded, by id, and all files that they were loaded from."""
    for each in running:
        named = each.load
        yield from filter(None, (each.model_id, named.model, named.projector, named.draft, *named.adapters))
