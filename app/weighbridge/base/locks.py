"""One owner per data folder, and one writer per file.

The owner holds a lock of the operating system on a file in the folder; its end, however it comes about, lets go of the
lock, so that a lock is never stale. What the owner says of itself (`Owner`) stands beside it in a second file, for on
Windows a locked file cannot be read; it counts only while the lock is held.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.small_files import read_small

_LOCK, _OWNER = "in-use.lock", "in-use.json"


@dataclass(frozen=True)
class Owner:
    """Who owns a data folder.

    Its process, whether it is a "window" or "serve", and its port's address if that is open.
    """

    pid: int
    kind: str
    url: str | None = None


class OwnerLock:
    """The ownership of one data folder, from `take` to `release`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None

    @property
    def held(self) -> bool:
        """Whether we are the owner."""
        return self._file is not None

    @property
    def mark(self) -> str | None:
        """What no other data folder's lock is called, to be given to what we start; None where we are not the owner."""
        if self._file is None:
            return None
        of_file = os.fstat(self._file.fileno())
        return f"{of_file.st_dev}:{of_file.st_ino}"

    def take(self, kind: str) -> None:
        """Become the owner.

        Raises Refused("owner.other_with_port", pid=, url=), ("owner.other_without_port", pid=) or ("owner.other") where
        another process is, and BadFile("owner.unwritable", path=, reason=) where the folder cannot be written to.
        """
        path = self._folder / _LOCK
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if path.exists() and not path.is_file():  # opening a pipe would wait for its other end
                raise OSError(errno.EINVAL, "not a regular file")
            file = path.open("ab")
        except OSError as error:
            raise BadFile("owner.unwritable", path=str(path), reason=error.strerror) from error
        if not try_lock(file):
            file.close()
            raise _refusal(self.owner())
        self._file = file
        self.tell(kind, None)

    def tell(self, kind: str, url: str | None) -> None:
        """Say what we are and where our port is. A full disk is no reason to fail: others then know less.

        Without effect where we are not the owner.
        """
        if self._file is None:
            return
        told = self._folder / f"{_OWNER}.new"
        with contextlib.suppress(OSError):
            told.write_text(json.dumps(asdict(Owner(os.getpid(), kind, url))), encoding="utf-8")
            told.replace(self._folder / _OWNER)

    def owner(self) -> Owner | None:
        """What the present owner says of itself; None where that cannot be read."""
        try:
            values = json.loads(read_small(self._folder / _OWNER))
            return Owner(int(values["pid"]), str(values["kind"]), values["url"] and str(values["url"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def release(self) -> None:
        """Let go. Without effect where we are not the owner."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                (self._folder / _OWNER).unlink(missing_ok=True)
            self._file.close()
            self._file = None


class FileLock:
    """One holder at a time, among all threads and processes, from `take` to `release`: by a file that is gone after.

    A file may be removed by its last holder between another's opening and locking it; that one then holds a file that
    nobody can find, sees that, and tries anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def take(self) -> bool:
        """Become the holder; False where another is. Raises OSError where the file cannot be made."""
        while True:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            file = os.fdopen(os.open(self._path, flags, 0o644), "r+b", buffering=0)
            if not try_lock(file):
                file.close()
                return False
            if _is_at(file, self._path):
                self._file = file
                return True
            file.close()

    def release(self) -> None:
        """Let go. Without effect where we are not the holder."""
        if self._file is None:
            return
        if sys.platform != "win32" and _is_at(self._file, self._path):  # there, nobody can remove an open file
            self._path.unlink(missing_ok=True)
        self._file.close()
        self._file = None
        if sys.platform == "win32":
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)


def _is_at(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _refusal(owner: Owner | None) -> Refused:
    if owner is None:
        return Refused("owner.other")
    if owner.url is None:
        return Refused("owner.other_without_port", pid=owner.pid)
    return Refused("owner.other_with_port", pid=owner.pid, url=owner.url)


if sys.platform == "win32":
    import msvcrt

    def try_lock(file: IO[bytes]) -> bool:
        """Lock an open file against all other openings of it, here too; False where another has it."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(file: IO[bytes]) -> bool:
        """Lock an open file against all other openings of it, here too; False where another has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
