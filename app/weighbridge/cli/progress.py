"""One line on a terminal's standard error that follows a task."""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager
from types import TracebackType

from weighbridge.base.task import Task
from weighbridge.base.units import number, size
from weighbridge.base.words import text

_PERIOD_S = 0.2


class Progress(AbstractContextManager[None]):
    """Follows `task` while the block lasts, where it is to be `shown`; the line is gone after it."""

    def __init__(self, task: Task, shown: bool) -> None:
        self._task, self._shown = task, shown
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
            print(f"\r\x1b[K{progress_line(self._task)}", end="", file=sys.stderr, flush=True)


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
