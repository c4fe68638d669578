"""What a file of a fake repository holds: bytes in memory, a file on disk, or made content that is never held."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

BLOCK_BYTES = 1 << 20


class Content(Hashable, Protocol):
    """Bytes that can be asked for in part."""

    @property
    def size(self) -> int:
        """How many bytes."""

    def pieces(self, start: int, stop: int) -> Iterator[bytes | memoryview]:
        """The bytes from `start` to before `stop`. A piece is good until the next one is asked for."""


@dataclass(frozen=True)
class Held:
    """Bytes in memory."""

    body: bytes

    @property
    def size(self) -> int:
        return len(self.body)

    def pieces(self, start: int, stop: int) -> Iterator[bytes | memoryview]:
        view = memoryview(self.body)
        for at in range(start, stop, BLOCK_BYTES):
            yield view[at : min(at + BLOCK_BYTES, stop)]


@dataclass(frozen=True)
class Stored:
    """A file on disk, which must not change."""

    path: Path
    size: int

    def pieces(self, start: int, stop: int) -> Iterator[bytes | memoryview]:
        buffer = memoryview(bytearray(BLOCK_BYTES))
        with self.path.open("rb") as file:
            file.seek(start)
            while start < stop:
                count = file.readinto(buffer[: min(BLOCK_BYTES, stop - start)])
                assert count, f"{self.path} became shorter"
                yield buffer[:count]
                start += count


@dataclass(frozen=True)
class Made:
    """`size` bytes made from `seed`, in which no two blocks of 1 MiB are alike, after a `head` of one's own."""

    size: int
    seed: int = 0
    head: bytes = b""

    def pieces(self, start: int, stop: int) -> Iterator[bytes | memoryview]:
        if start < len(self.head):
            end = min(len(self.head), stop)
            yield self.head[start:end]
            start = end
        buffer = bytearray(_block(self.seed))
        view = memoryview(buffer)
        while start < stop:
            number, offset = divmod(start, BLOCK_BYTES)
            buffer[:8] = number.to_bytes(8, "little")
            end = min(BLOCK_BYTES, offset + stop - start)
            yield view[offset:end]
            start += end - offset


@lru_cache(maxsize=8)
def _block(seed: int) -> bytes:
    return random.Random(seed).randbytes(BLOCK_BYTES)


def content_of(given: bytes | str | Path | Content) -> Content:
    """Content from what a test writes down. A str is text."""
    if isinstance(given, str):
        return Held(given.encode())
    if isinstance(given, bytes):
        return Held(given)
    if isinstance(given, Path):
        return Stored(given, given.stat().st_size)
    return given


def read(content: Content) -> bytes:
    """All of it."""
    return b"".join(bytes(piece) for piece in content.pieces(0, content.size))


@lru_cache(maxsize=512)
def sha256(content: Content) -> str:
    """Hash by which the Hub knows a large file."""
    digest = hashlib.sha256()
    for piece in content.pieces(0, content.size):
        digest.update(piece)
    return digest.hexdigest()


@lru_cache(maxsize=512)
def git_sha1(content: Content) -> str:
    """Hash by which git, and the Hub, know a small file."""
    digest = hashlib.sha1(b"blob %d\0" % content.size, usedforsecurity=False)
    for piece in content.pieces(0, content.size):
        digest.update(piece)
    return digest.hexdigest()
