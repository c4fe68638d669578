"""llama.cpp's log, line by line, from a library that has one logger for a whole process.

Each line goes to whoever listens on the thread that it comes from: a library that a program hosts may have loaded
several models, each on a thread of its own.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

Say = Callable[[str], None]
_DEBUG, _CONTINUED = 1, 5
_LETTERS = {2: "I", 3: "W", 4: "E"}


class LogLines:
    """The library's one logger. Lines carry the letter of their level before them, as llama.cpp's programs print it.

    What is only for those who search for faults in llama.cpp is left out, and so is what nobody listens to.
    """

    def __init__(self, library: Any) -> None:
        self._says: dict[int, Say] = {}
        self._begun: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        self._callback = library.llama_log_callback(self._heard)  # kept: the library holds no reference
        library.llama_log_set(self._callback, None)

    @contextlib.contextmanager
    def listening(self, say: Say) -> Iterator[None]:
        """Have what comes on this thread said to `say` until the block is left."""
        thread = threading.get_ident()
        self._says[thread] = say
        try:
            yield
        finally:
            del self._says[thread]

    def _heard(self, level: int, text: bytes, _data: object) -> None:
        thread = threading.get_ident()
        say = self._says.get(thread)
        if level != _CONTINUED:
            self._levels[thread] = level
        if say is None or self._levels.get(thread, _DEBUG) == _DEBUG:
            return
        letter = _LETTERS.get(self._levels[thread], "I")
        *lines, rest = (self._begun.pop(thread, "") + text.decode("utf-8", "replace")).split("\n")
        for line in lines:
            say(f"{letter} {line}")
        if rest:
            self._begun[thread] = rest


@cache
def log_lines() -> LogLines:
    """The one of this process; it imports the library."""
    return LogLines(import_module("llama_cpp"))
