"""`weighbridge starter`: get a small model to begin with."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from contextlib import AbstractContextManager
from types import TracebackType

from weighbridge.base.task import Task
from weighbridge.base.units import number, size
from weighbridge.base.words import text

_PERIOD_S = 0.2


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("starter", help=text("get the starter model (98 MB)"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fetch the starter model into the models folder and print where it is."""
    from weighbridge.base.paths import default_paths
    from weighbridge.base.settings import SettingsStore
    from weighbridge.hub.access import access_of
    from weighbridge.hub.network import NetworkLog
    from weighbridge.library.starter import fetch

    task, paths = Task(), default_paths()
    settings = SettingsStore(paths.settings).value
    access = access_of(lambda: settings, lambda: None, os.environ)
    with _Progress(task, shown=sys.stderr.isatty() and not arguments.json):
        path = fetch(paths.models, task, access, NetworkLog(), os.environ)
    if arguments.json:
        print(json.dumps({"path": str(path), "id": path.stem}))
    else:
        print(text("The starter model is here: {path}", path=path))
    return 0


class _Progress(AbstractContextManager[None]):
    """One line on a terminal's stderr that follows a task."""

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
    """How far the fetch is, in words."""
    progress = task.progress
    words = {
        "connecting": text("Connecting"),
        "downloading": text("Downloading"),
        "package index": text("Fetching from the package index"),
        "verifying": text("Verifying"),
    }
    share = f" {number(100 * progress.fraction)} %" if progress.fraction is not None else ""
    return f"{words.get(progress.note, progress.note)}{share} ({size(progress.done)})"
