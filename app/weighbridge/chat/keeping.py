"""The text of an answer in flight, written to the store while it grows."""

from __future__ import annotations

import threading

from weighbridge.base.errors import BadFile
from weighbridge.chat.store import ChatStore

WRITE_EVERY_S = 1.0


class Keeper:
    """Writes what is noted at once, and again at most once a second: text is on the disk within a second of its
    coming, also where nothing follows it.

    It writes on a thread of its own, from `start` to `close`. What cannot be written is left to the next write; the
    last one, which tells, is not made here.
    """

    def __init__(self, store: ChatStore, message_id: int) -> None:
        self._store = store
        self._message_id = message_id
        self._noted: tuple[str, str] | None = None
        self._news = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="answer kept")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def note(self, text: str, reasoning: str) -> None:
        """The text and thought as they stand now."""
        self._noted = (text, reasoning)
        self._news.set()

    def close(self) -> None:
        """Write no more, and wait for the write that goes on."""
        self._closed.set()
        self._news.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            if self._closed.is_set():
                return
            self._write()
            if self._closed.wait(WRITE_EVERY_S):
                return

    def _write(self) -> None:
        noted = self._noted
        if noted is not None:
            try:
                self._store.write(self._message_id, *noted)
            except BadFile:
                return
