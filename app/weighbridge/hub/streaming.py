"""The bytes of one file as they come, which any thread can end at once."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx2

from weighbridge.base.errors import Unreachable
from weighbridge.hub.remote import Located

PIECE_BYTES = 256 << 10
PIECE_S = 0.1
"""A piece is handed on when it is this large, or this old: on a slow line little is lost where it breaks."""
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)")


def hang_up(response: httpx2.Response) -> None:
    """Wake a read that waits for the network, from another thread; it finds the connection broken."""
    stream = response.extensions.get("network_stream")
    wire = stream.get_extra_info("socket") if stream is not None else None
    if isinstance(wire, socket.socket):
        with suppress(OSError):
            # Of the plain socket: TLS's own would from then on give what still comes as it is, encrypted.
            socket.socket.shutdown(wire, socket.SHUT_RDWR)


class Streamed:
    """An answer with bytes from `start` on: see `remote.Bytes`."""

    def __init__(self, response: httpx2.Response, located: Located, asked: int) -> None:
        self._response = response
        self._host = response.request.url.host
        self._lock = threading.Lock()
        self._hung_up = self._over = False
        self.start = self._begins(located, asked)

    def pieces(self) -> Iterator[bytes]:
        """The bytes, some hundred KiB at a time. What came before a break is handed on before it is told."""
        held: list[bytes] = []
        count, since = 0, time.monotonic()
        try:
            for piece in self._wire():
                held.append(piece)
                count += len(piece)
                if count >= PIECE_BYTES or time.monotonic() - since >= PIECE_S:
                    yield b"".join(held)
                    held.clear()
                    count, since = 0, time.monotonic()
        except Unreachable:
            if held and not self._hung_up:
                yield b"".join(held)
            raise
        if held:
            yield b"".join(held)

    def hang_up(self) -> None:
        """End it at once, also where a read waits on a socket that says nothing. Without effect once all is read: the
        connection may be another's by then.
        """
        with self._lock:
            if self._over:
                return
            self._hung_up = True
            hang_up(self._response)

    def close(self) -> None:
        """No more of it is wanted."""
        with self._lock:
            self._over = True
        self._response.close()

    def _wire(self) -> Iterator[bytes]:
        stream = self._response.stream
        assert isinstance(stream, httpx2.SyncByteStream)
        try:
            for piece in stream:
                if self._hung_up:
                    break
                yield piece
        except Unreachable:
            if not self._hung_up:
                raise
        with self._lock:
            self._over = True
        if self._hung_up:
            raise Unreachable("hub.unreachable", host=self._host, reason="hung up")

    def _begins(self, located: Located, asked: int) -> int:
        """Where the bytes begin: at what was asked, or at 0 where the range was ignored."""
        head = self._response.headers
        if self._response.status_code == httpx2.codes.OK:
            self._require(head.get("content-length") in (None, str(located.size_bytes)), "Content-Length")
            return 0
        self._require(self._response.status_code == httpx2.codes.PARTIAL_CONTENT, str(self._response.status_code))
        told = _RANGE.fullmatch(head.get("content-range", ""))
        self._require(told is not None and int(told.group(1)) == asked, "Content-Range")
        self._require(told is not None and told.group(3) in ("*", str(located.size_bytes)), "Content-Range")
        return asked

    def _require(self, true: bool, what: str) -> None:
        if not true:
            raise Unreachable("hub.server", host=self._host, reason=what)
