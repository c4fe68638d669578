"""Files that are here twice: looked for when the user asks, and made one by a hard link where ours can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.base.units import size
from weighbridge.base.words import plural, text
from weighbridge.library.doubles import LEAST_BYTES, Double, find_doubles, link
from weighbridge.library.model import Model
from weighbridge.ui.pages.library_foot import LibraryFoot
from weighbridge.ui.services import Services
from weighbridge.ui.source_words import source_in_words
from weighbridge.ui.widgets.lines_panel import Line
from weighbridge.ui.widgets.progress_panel import ProgressPanel

PART = "doubles"
_Done = TypeVar("_Done")


class Doubles(QObject):
    """Fills its part of `foot`; offers to look only where models are of the same size. `failed` tells an error."""

    failed = Signal(object)

    def __init__(
        self, services: Services, foot: LibraryFoot, progress: ProgressPanel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._foot = foot
        self._progress = progress
        self._task: Task | None = None
        self._listed: tuple[Model, ...] = ()

    @property
    def busy(self) -> bool:
        """Whether files are being read."""
        return self._task is not None

    def cancel(self) -> None:
        """Read no more."""
        if self._task is not None:
            self._task.cancel()

    def show(self) -> None:
        """Offer to look, where the models that are listed now are others than before."""
        models = self._services.library.models
        if models == self._listed:
            return
        self._listed, count = models, of_one_size(models)
        if count:
            words = plural("{count} model may be here twice", "{count} models may be here twice", count)
            self._foot.offer(PART, words, self.look)
        else:
            self._foot.say(PART, "")

    def look(self) -> None:
        """Find them; files of which no hash is known are read."""
        models, own, hashes = self._listed, self._services.paths.models, self._services.hashes
        self._begin(text("Looking for doubles"), lambda task: find_doubles(models, own, hashes, task), self._found)

    def link(self, double: Double) -> None:
        """Put hard links in the places of our copies."""
        own, hashes = self._services.paths.models, self._services.hashes

        def work(task: Task) -> int:
            return sum(link(ours, other, own, hashes, task) for ours, other in double.links)

        self._begin(text("Making one file of two"), work, self._linked)

    def _begin(self, words: str, work: Callable[[Task], _Done], done: Callable[[_Done], None]) -> None:
        if self._task is None:
            self._task = self._services.background.stream(work, partial(self._end, done), self._failed, "doubles")
            self._progress.watch(words, self._task)

    def _end(self, done: Callable[[_Done], None], result: _Done) -> None:
        self._over()
        done(result)

    def _found(self, doubles: tuple[Double, ...]) -> None:
        count, freed = len(doubles), sum(double.freed_bytes for double in doubles)
        if not count:
            self._foot.say(PART, text("No model is here twice"))
            return
        words = plural("{count} file is here twice", "{count} files are here twice", count)
        words = text("{doubles} · {size}", doubles=words, size=size(freed)) if freed else words
        head = text("Files that hold the same. A hard link keeps both names and needs the room of one.")
        self._foot.say(PART, words, head, [self._line(double) for double in doubles])
        self._foot.open_panel(PART)

    def _line(self, double: Double) -> Line:
        names = " = ".join(f"{copy.model.title} ({source_in_words(copy.model.source)})" for copy in double.copies)
        said = text("{size} each", size=size(double.size_bytes))
        if not double.links:
            return Line(names, said)
        words = text("Link, frees {size}", size=size(double.freed_bytes))
        return Line(names, said, ((words, partial(self.link, double)),))

    def _linked(self, freed_bytes: int) -> None:
        del freed_bytes
        self._services.bus.scan_wanted.emit()
        self.look()  # what was read before is not read again

    def _failed(self, error: BaseException) -> None:
        self._over()
        if not isinstance(error, Cancelled):
            self.failed.emit(error)

    def _over(self) -> None:
        self._task = None
        self._progress.finish()


def of_one_size(models: Iterable[Model]) -> int:
    """How many models are of the same size as another one, and large enough to matter."""
    sizes = Counter(model.size_bytes for model in models if model.size_bytes >= LEAST_BYTES)
    return sum(count - 1 for count in sizes.values() if count > 1)
