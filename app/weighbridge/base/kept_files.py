"""Small files that spare work: each by a key, the ones used longest ago deleted where there are too many.

A folder that cannot be read or written to, and an entry that is gone, cost time and nothing else. What an entry holds
is the caller's to check: anybody may have put anything in its place.
"""

from __future__ import annotations

import os
import re
import stat
import threading
from contextlib import suppress
from pathlib import Path

_KEY = re.compile(r"[0-9a-f]{16,64}")


class KeptFiles:
    """At most `most_files` files of `most_bytes` together in `folder`, after each `tidy`. From any thread.

    `folder` None: nothing is kept. A key is a hash in small hexadecimal digits; any other raises ValueError.
    """

    def __init__(self, folder: Path | None, ending: str, most_files: int, most_bytes: int) -> None:
        self._folder, self._ending = folder, ending
        self._most_files, self._most_bytes = most_files, most_bytes

    def load(self, key: str, most_bytes: int) -> bytes | None:
        """What is kept by `key`, which counts as used now; None where there is nothing, or more than `most_bytes`."""
        path = self._path(key)
        if path is None:
            return None
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
                return None
            content = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def store(self, key: str, content: bytes) -> None:
        """Keep `content` by `key`, whole or not at all, in the place of what was there."""
        path = self._path(key)
        if path is None:
            return
        aside = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(content)
            aside.replace(path)
        except OSError:
            with suppress(OSError):
                aside.unlink()

    def drop(self, key: str) -> None:
        """Keep nothing by `key` any more: what is there is damaged."""
        path = self._path(key)
        if path is not None:
            with suppress(OSError):
                path.unlink()

    def tidy(self) -> None:
        """Delete what was used longest ago, where there is more than enough; a half-written file counts too."""
        size_bytes = 0
        for number, (_, length, path) in enumerate(sorted(self._entries(), reverse=True)):
            size_bytes += length
            if number >= self._most_files or size_bytes > self._most_bytes:
                with suppress(OSError):
                    path.unlink()

    def _path(self, key: str) -> Path | None:
        if not _KEY.fullmatch(key):
            raise ValueError(key)
        return None if self._folder is None else self._folder / f"{key}{self._ending}"

    def _entries(self) -> list[tuple[float, int, Path]]:
        entries: list[tuple[float, int, Path]] = []
        if self._folder is None:
            return entries
        with suppress(OSError):
            for path in self._folder.iterdir():
                with suppress(OSError):
                    status = path.stat()
                    entries.append((status.st_mtime, status.st_size, path))
        return entries
