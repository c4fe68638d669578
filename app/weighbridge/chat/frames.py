"""Server-sent events as bytes: cutting a stream into frames, and what a frame carries.

No decoding happens here: a frame is whole, so a character cut by the network is whole again, too.
"""

from __future__ import annotations

import re

MAX_FRAME_BYTES = 1 << 20
"""No engine sends a piece of an answer this long; a stream that does is not an answer."""

_END_OF_FRAME = re.compile(rb"\n\r?\n")
_END_OF_LINE = re.compile(rb"\r?\n")


class Frames:
    """Cuts a stream of bytes, fed in pieces of any size, into frames that end in a blank line.

    Once `too_long` is True a frame went over the limit, and no more come.
    """

    def __init__(self, limit_bytes: int = MAX_FRAME_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._held = bytearray()
        self.too_long = False

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes, each with its blank line."""
        if self.too_long:
            return []
        held = self._held
        searched = max(0, len(held) - 2)
        held += data
        frames: list[bytes] = []
        start = 0
        while (end := _END_OF_FRAME.search(held, max(start, searched))) and end.end() - start <= self._limit_bytes:
            frames.append(bytes(held[start : end.end()]))
            start = end.end()
        del held[:start]
        self.too_long = len(held) > self._limit_bytes
        return frames

    def rest(self) -> bytes:
        """What came after the last blank line."""
        return bytes(self._held)


def payload(frame: bytes) -> bytes | None:
    """The data of a frame, its `data:` lines joined by a line feed; None for comments and frames without data."""
    found = [line[5:].removeprefix(b" ") for line in _END_OF_LINE.split(frame) if line.startswith(b"data:")]
    return b"\n".join(found) if found else None


def frame_of(data: bytes) -> bytes:
    """`data` (without line feeds) as one frame."""
    return b"data: " + data + b"\n\n"
