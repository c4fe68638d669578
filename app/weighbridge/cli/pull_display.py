"""How a download goes on, as it goes: lines that are written over on a terminal, lines of JSON, or few plain ones."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from weighbridge.base.words import text
from weighbridge.cli.pull_words import progress_as_json, progress_in_words, state_in_words, trouble_in_words

if TYPE_CHECKING:
    from weighbridge.hub.jobs import State
    from weighbridge.hub.snapshot import JobView

Show = Callable[["JobView", bool], None]
_JSON_S = 1.0


def display(as_json: bool) -> Show:
    """What to call with each view of the job, and whether it is this process that fetches it."""
    if as_json:
        return _Lines().show
    return _Terminal().show if sys.stderr.isatty() else _Plain().show


class _Lines:
    """JSON on standard output: at each change of state, else once a second."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._at = 0.0

    def show(self, view: JobView, owner: bool) -> None:
        """One line, where it is time for one."""
        now = time.monotonic()
        if view.state is not self._state or now - self._at >= _JSON_S:
            self._state, self._at = view.state, now
            print(json.dumps({**progress_as_json(view), "here": owner}), flush=True)


class _Terminal:
    """One line for each file, written over."""

    def __init__(self) -> None:
        self._height = 0

    def show(self, view: JobView, owner: bool) -> None:
        """The lines as they are now, as many as there is room for."""
        columns, rows = shutil.get_terminal_size()
        lines = [line[: columns - 1] for line in progress_in_words(view)]
        if not owner:
            lines.append(_elsewhere()[: columns - 1])
        lines = lines[-(rows - 1) :]
        up = f"\x1b[{self._height}A" if self._height else ""
        print(up + "\x1b[J" + "\n".join(lines), file=sys.stderr, flush=True)
        self._height = len(lines)


class _Plain:
    """For a log: a line for what is in the way, and one once bytes come again. How it ends is told by the command."""

    def __init__(self) -> None:
        self._elsewhere = False
        self._in_the_way: str | None = None
        self._since_bytes = 0

    def show(self, view: JobView, owner: bool) -> None:
        """What is new, if anything."""
        if not owner and not self._elsewhere:
            _say(_elsewhere())
        self._elsewhere = not owner
        if view.error is not None and (view.retry_in_s is not None or view.for_room):
            if view.error.code != self._in_the_way:
                _say(f"{state_in_words(view.state)}: {trouble_in_words(view)}".rstrip())
            self._in_the_way, self._since_bytes = view.error.code, view.done_bytes
        elif self._in_the_way is not None and view.done_bytes > self._since_bytes:
            self._in_the_way = None
            _say(text("It goes on."))


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _elsewhere() -> str:
    return text("Another Weighbridge fetches it.")
