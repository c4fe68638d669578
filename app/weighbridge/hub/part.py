"""A file on its way: `NAME.part` with what it will be in `NAME.part.json`, until it is whole and verified.

Whatever happens, and whenever, only a whole and verified file has the final name. A part is taken up again at its last
byte where the Hub still promises the same content. One writer at a time, across processes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from weighbridge.base.errors import Refused
from weighbridge.base.locks import FileLock
from weighbridge.base.small_files import read_small
from weighbridge.hub.remote import RemoteFile
from weighbridge.hub.space import fault_of
from weighbridge.hub.verify import Digest, Step, is_right, known_hash, require_sound_hash

ENDING = ".part"
_SAFELY = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")
_FLAGS = os.O_RDWR | os.O_CREAT | sum(getattr(os, name, 0) for name in _SAFELY)


@dataclass(frozen=True)
class Origin:
    """Where a file comes from."""

    repo_id: str
    commit: str


class Part:
    """The one writer of the file at `target`, between entering and leaving it.

    Entering raises Refused("download.busy", name=) where another writes the same file, Refused("hub.bad_hash"), and, as
    every method does, Refused("disk.full") or BadFile("file.unwritable").
    """

    def __init__(self, target: Path, file: RemoteFile, origin: Origin) -> None:
        require_sound_hash(file)
        self.target = target
        self.file = file
        self._path = target.with_name(target.name + ENDING)
        self._sidecar = target.with_name(f"{target.name}{ENDING}.json")
        self._lock = FileLock(target.with_name(f"{target.name}{ENDING}.lock"))
        self._promise = _promise(file, origin)
        self._opened: IO[bytes] | None = None
        self._digest: Digest | None = None
        self.have_bytes = 0

    def __enter__(self) -> Self:
        with self._told():
            self.target.parent.mkdir(parents=True, exist_ok=True)
            if not self._lock.take():
                raise Refused("download.busy", name=self.file.path)
            try:
                self._take_up()
            except BaseException:
                self._let_go()
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._let_go()

    @property
    def missing_bytes(self) -> int:
        """What is still to come."""
        return self.file.size_bytes - self.have_bytes

    def is_here(self, step: Step) -> bool:
        """Whether the file is under its final name already, whole and right. `step` sees the bytes looked at."""
        with self._told():
            return self.target.is_file() and is_right(self.target, self.file, step)

    def write(self, piece: bytes) -> None:
        """Append the next bytes; no more than the file will have."""
        assert self._opened is not None
        left = memoryview(piece)[: self.missing_bytes]
        try:
            with self._told():
                while left:
                    count = self._opened.write(left)
                    if self._digest is not None:
                        self._digest.update(left[:count])
                    self.have_bytes += count
                    left = left[count:]
        except BaseException:
            self._digest = None
            raise

    def restart(self) -> None:
        """Throw away what came."""
        assert self._opened is not None
        with self._told():
            self._opened.seek(0)
            self._opened.truncate(0)
        self.have_bytes, self._digest = 0, Digest(self.file)

    def is_right(self, step: Step) -> bool:
        """Whether what came is what was promised, read again from the disk where not all of it came just now.

        `step` sees the bytes looked at, and may raise to end the work.
        """
        assert self._opened is not None
        with self._told():
            os.fsync(self._opened.fileno())
            if self._digest is not None and self._digest.done_bytes == self.file.size_bytes:
                return self._digest.matches()
            return is_right(self._path, self.file, step)

    def finish(self) -> None:
        """Give the file its final name, in the place of whatever had it. Only after `is_right`."""
        with self._told():
            self._close()
            self._path.replace(self.target)
            _sync_folder(self.target.parent)
            self._sidecar.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the part, and what was kept of it."""
        with self._told():
            self._close()
            self._path.unlink(missing_ok=True)
            self._sidecar.unlink(missing_ok=True)

    def _take_up(self) -> None:
        """Open the part: as it is where it will be the same file, else empty."""
        told = {**_read(self._sidecar), "commit": self._promise["commit"]}  # content, not commits, makes it the same
        if told != self._promise or known_hash(self.file) is None:
            self._path.unlink(missing_ok=True)
        self._tell()
        self._opened = os.fdopen(os.open(self._path, _FLAGS, 0o644), "r+b", buffering=0)
        self.have_bytes = self._opened.seek(0, os.SEEK_END)
        if self.have_bytes > self.file.size_bytes or self.have_bytes == 0:
            self.restart()

    def _tell(self) -> None:
        made = self._sidecar.with_name(f"{self._sidecar.name}.new")
        made.write_text(json.dumps(self._promise), encoding="utf-8")
        made.replace(self._sidecar)

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _let_go(self) -> None:
        with suppress(OSError):
            self._close()
        with suppress(OSError):
            self._lock.release()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise fault_of(error, self._path, self.missing_bytes) from error


def _promise(file: RemoteFile, origin: Origin) -> dict[str, Any]:
    return {
        "repo": origin.repo_id,
        "path": file.path,
        "etag": known_hash(file),
        "sha256": file.sha256,
        "size": file.size_bytes,
        "commit": origin.commit,
    }


def _read(sidecar: Path) -> dict[str, Any]:
    """What a part will be, as it was written down; nothing where that cannot be read."""
    try:
        told = json.loads(read_small(sidecar))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def remains_of(target: Path) -> list[Path]:
    """The files beside `target` that a broken-off download of it leaves."""
    names = (target.name + ENDING, f"{target.name}{ENDING}.json", f"{target.name}{ENDING}.json.new")
    return [path for path in map(target.with_name, names) if path.is_file() or path.is_symlink()]


def part_bytes(target: Path) -> int:
    """How much of `target` is here: all of it under its own name, or of its part."""
    for path in (target, target.with_name(target.name + ENDING)):
        with suppress(OSError):
            return path.stat().st_size
    return 0


def _sync_folder(folder: Path) -> None:
    """Without this, a new name may be lost with the power. Not every system can do it for a folder."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
