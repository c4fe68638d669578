"""What the first bytes of a picture say: its kind and how many pixels it has. Nothing of it is decoded. Pure.

Whoever decodes a picture needs memory for all of its pixels, which a file of a few kilobytes can ask for: so they are
counted before it goes there.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MOST_MEGAPIXELS = 64
"""More than nearly every camera makes; decoded, each pixel takes three bytes."""

MOST_BYTES = 16 << 20
"""Of all the pictures of one message, as files."""

_FRAMES = re.compile(rb"\xff[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf]")
_SEGMENT_HEAD = 4


@dataclass(frozen=True)
class Picture:
    """Its `kind` ("png", "jpeg", "gif", "bmp"), and its size in pixels."""

    kind: str
    width: int
    height: int

    @property
    def megapixels(self) -> int:
        """How many million pixels there are, rounded up."""
        return -(-self.width * self.height // 1_000_000)


def picture_in(data: bytes) -> Picture | None:
    """What `data` is a picture of; None where it is of no kind that is known here, or ends before it says its size."""
    for start, (kind, size_of) in _KINDS.items():
        if data.startswith(start):
            try:
                width, height = size_of(data)
            except (struct.error, IndexError):
                return None
            return Picture(kind, width, height) if width > 0 and height > 0 else None
    return None


def _png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _bmp(data: bytes) -> tuple[int, int]:
    """A height below 0 means that the rows stand from the top down."""
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)


def _jpeg(data: bytes) -> tuple[int, int]:
    """From segment to segment, until the one that begins the frame."""
    place = 2
    while not _FRAMES.match(data, place):
        marker, length = struct.unpack_from(">HH", data, place)
        if marker >> 8 != 0xFF or length < 2:
            raise IndexError(place)
        place += 2 + length
    height, width = struct.unpack_from(">HH", data, place + _SEGMENT_HEAD + 1)
    return width, height


_KINDS: Mapping[bytes, tuple[str, Callable[[bytes], tuple[int, int]]]] = {
    b"\x89PNG\r\n\x1a\n": ("png", _png),
    b"\xff\xd8\xff": ("jpeg", _jpeg),
    b"GIF87a": ("gif", _gif),
    b"GIF89a": ("gif", _gif),
    b"BM": ("bmp", _bmp),
}
