"""Where the bytes of a model file come from: a local file, or anything else that can serve a range."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

from weighbridge.base.errors import BadFile


class ByteSource(Protocol):
    """Bytes that can be asked for by range. `size_bytes` is None where it is unknown."""

    @property
    def size_bytes(self) -> int | None:
        """The whole length, or None."""

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on; fewer only at the end."""


class FileSource:
    """A local file, open for the length of a `with` block. Raises BadFile("file.unreadable")."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file: BinaryIO = os.fdopen(_open(path), "rb")
        except OSError as error:
            raise self._unreadable(error) from error
        status = os.fstat(self._file.fileno())
        if not stat.S_ISREG(status.st_mode):
            self._file.close()
            raise BadFile("file.not_regular", name=path.name)
        self.size_bytes: int | None = status.st_size

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on; fewer only at the end of the file."""
        try:
            self._file.seek(offset)
            return self._file.read(length)
        except OSError as error:
            raise self._unreadable(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> FileSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _unreadable(self, error: OSError) -> BadFile:
        return BadFile("file.unreadable", name=self._path.name, reason=error.strerror or str(error))


def _open(path: Path) -> int:
    """A pipe may have taken the file's place, and opening one would wait for its writer."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))


class BytesSource:
    """Bytes already in memory: a whole file, or its start, such as the answer to one range request."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.size_bytes: int | None = len(content)

    @classmethod
    def start_of(cls, content: bytes, size_bytes: int | None = None) -> BytesSource:
        """`content`, where it is only the start of a file of `size_bytes`; None: of an unknown length."""
        source = cls(content)
        source.size_bytes = size_bytes
        return source

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on; fewer only at the end."""
        return self._content[offset : offset + length]
