"""One line on a terminal's standard error that follows a task, or a load."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from weighbridge.base.task import Task
from weighbridge.base.units import number, size
from weighbridge.base.words import text

_PERIOD_S = 0.2


class ChangingLine(AbstractContextManager[None]):
    """What `says` says, time and again while the block lasts, where it is to be `shown`; the line is gone after it."""

    def __init__(self, says: Callable[[], str], shown: bool) -> None:
        self._says, self._shown = says, shown
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)

    def __enter__(self) -> None:
        if self._shown:
            self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._shown:
            self._thread.join()
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _follow(self) -> None:
        while not self._ended.wait(_PERIOD_S):
            print(f"\r\x1b[K{self._says()}", end="", file=sys.stderr, flush=True)


class Progress(ChangingLine):
    """Follows `task`."""

    def __init__(self, task: Task, shown: bool) -> None:
        super().__init__(lambda: progress_line(task), shown)


def progress_line(task: Task) -> str:
    """How far the task is, in words."""
    progress = task.progress
    words = {
        "connecting": text("Connecting"),
        "downloading": text("Downloading"),
        "package index": text("Fetching from the package index"),
        "devices": text("Asking what it can use"),
        "token": text("Loading a model"),
        "verifying": text("Verifying"),
    }
    share = f" {number(100 * progress.fraction)} %" if progress.fraction is not None else ""
    return f"{words.get(progress.note, progress.note)}{share} ({size(progress.done)})"
