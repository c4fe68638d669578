"""Reading from an engine: one request, one connection, bytes as they come.

The connection is not shared or kept: on loopback it costs a fraction of a millisecond, and closing it is how an engine
is told to stop. Built on asyncio's streams and h11, which the server brings: a chunk at 8 streams costs 125 to 140 us
of CPU this way, and 210 to 260 us through httpx2's AsyncClient (2 cores, `python -m tests.benchmarks.gateway`).
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlsplit

import h11

from weighbridge.base.errors import EngineFailed

_CONNECT_S = 10.0
_READ_BYTES = 1 << 16


class Answer:
    """An engine's answer: its status, and its body piece by piece."""

    def __init__(self, connection: h11.Connection, reader: asyncio.StreamReader, status: int) -> None:
        self._connection = connection
        self._reader = reader
        self.status = status

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. Raises EngineFailed("engine.silent") where the engine ends in mid-answer."""
        while True:
            event = await _next_event(self._connection, self._reader)
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return

    async def read(self, limit_bytes: int) -> bytes:
        """The whole body. Raises EngineFailed("stream.too_long") over the limit."""
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            if len(body) > limit_bytes:
                raise EngineFailed("stream.too_long")
        return bytes(body)


@contextlib.asynccontextmanager
async def post(url: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Answer]:
    """Send a JSON body and wait for the head of the answer. Leaving the block closes the connection.

    Raises EngineFailed("engine.silent") where the engine cannot be reached or hangs up before it has answered.
    """
    place = urlsplit(url)
    tls = ssl.create_default_context() if place.scheme == "https" else None
    port = place.port or (443 if tls else 80)
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(place.hostname, port, ssl=tls)
    except (OSError, TimeoutError) as error:
        raise _silent(error) from error
    try:
        connection = h11.Connection(h11.CLIENT)
        await _send(connection, writer, _head(place.netloc, place.path, headers, body), body)
        event = await _next_event(connection, reader)
        while isinstance(event, h11.InformationalResponse):
            event = await _next_event(connection, reader)
        if not isinstance(event, h11.Response):
            raise _silent(None)
        yield Answer(connection, reader, event.status_code)
    finally:
        writer.transport.abort()


def _head(host: str, path: str, headers: Mapping[str, str], body: bytes) -> h11.Request:
    every = {
        "Host": host,
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **headers,
    }
    return h11.Request(method="POST", target=path, headers=list(every.items()))


async def _send(connection: h11.Connection, writer: asyncio.StreamWriter, head: h11.Request, body: bytes) -> None:
    for event in (head, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    # An engine may refuse a long request before it has read it: its answer is still to be read.
    with contextlib.suppress(OSError):
        await writer.drain()


async def _next_event(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Event | type[h11.PAUSED]:
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
    except (OSError, h11.RemoteProtocolError) as error:
        raise _silent(error) from error
    if isinstance(event, h11.ConnectionClosed):
        raise _silent(None)
    assert not isinstance(event, type) or event is h11.PAUSED
    return event


def _silent(error: Exception | None) -> EngineFailed:
    reason = "" if error is None else str(error) or type(error).__name__
    return EngineFailed("engine.silent", reason=reason)
