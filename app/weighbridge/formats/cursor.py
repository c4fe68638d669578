"""Walking through a header whose numbers are not trusted.

The cursor reads its source piece by piece, each as large as all before it, up to a limit. Memory follows the bytes
that are really there: a length found in the file is only ever compared, never allocated.
"""

from __future__ import annotations

from struct import Struct

from weighbridge.base.errors import BadFile
from weighbridge.formats.source import ByteSource

U32 = Struct("<I")
U64 = Struct("<Q")
HEADER_LIMIT_BYTES = 64 << 20
"""No sound header is longer; what claims to be is damaged."""


class LimitReached(Exception):
    """The reading limit was reached, though the file may go on."""


class Cursor:
    """A position in a source, moved forward by reading. Raises BadFile("file.truncated") at the end of the file."""

    def __init__(self, source: ByteSource, first_bytes: int, limit_bytes: int) -> None:
        self.position = 0
        self._source = source
        self._size_bytes = source.size_bytes
        self._next_bytes = first_bytes
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()

    @property
    def bytes_read(self) -> int:
        """How much of the source was asked for so far."""
        return len(self._buffer)

    def u32(self) -> int:
        """An unsigned number of 4 bytes."""
        return int(self.unpack(U32))

    def u64(self) -> int:
        """An unsigned number of 8 bytes."""
        return int(self.unpack(U64))

    def unpack(self, form: Struct) -> int | float | bool:
        """One number of the given form."""
        start = self._advance(form.size)
        value: int | float | bool = form.unpack_from(self._buffer, start)[0]
        return value

    def take(self, length: int) -> bytes:
        """The next `length` bytes, which the caller has bounded."""
        start = self._advance(length)
        return bytes(self._buffer[start : start + length])

    def peek(self, length: int) -> bytes:
        """Up to `length` bytes from here on, without moving."""
        if len(self._buffer) < self.position + length:
            self._grow()
        return bytes(self._buffer[self.position : self.position + length])

    def skip(self, length: int) -> None:
        """Move over `length` bytes."""
        self._advance(length)

    def skip_strings(self, count: int) -> None:
        """Move over `count` strings, each a length of 8 bytes and its bytes.

        This loop is what makes a header with a million tokens quick to read; keep it free of calls.
        """
        length_at = U64.unpack_from
        buffer, position, known = self._buffer, self.position, len(self._buffer) - 8
        while count:
            if position > known:
                self._reach(position + 8)
                known = len(buffer) - 8
            position += 8 + length_at(buffer, position)[0]
            count -= 1
        self.position = position
        self._reach(position)

    def _advance(self, length: int) -> int:
        start = self.position
        end = start + length
        if end > len(self._buffer):
            self._reach(end)
        self.position = end
        return start

    def _reach(self, end: int) -> None:
        if end > HEADER_LIMIT_BYTES:
            raise BadFile("gguf.length", length=end - self.position)
        if self._size_bytes is not None and end > self._size_bytes:
            raise BadFile("file.truncated", needed_bytes=end, size_bytes=self._size_bytes)
        if end > self._limit_bytes:
            raise LimitReached
        while len(self._buffer) < end:
            if not self._grow():
                raise BadFile("file.truncated", needed_bytes=end, size_bytes=len(self._buffer))

    def _grow(self) -> bool:
        wanted = min(self._next_bytes, self._limit_bytes - len(self._buffer))
        more = self._source.read(len(self._buffer), wanted) if wanted > 0 else b""
        self._buffer += more
        self._next_bytes = len(self._buffer)
        return bool(more)
