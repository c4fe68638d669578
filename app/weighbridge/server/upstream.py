"""Reading from an engine, or from the server of an endpoint: one request, one connection, bytes as they come.

The connection is not shared or kept: on loopback it costs a fraction of a millisecond, and closing it is how an engine
is told to stop. Built on asyncio's streams and h11, which the server brings: a chunk at 8 streams costs 125 to 140 us
of CPU this way, and 210 to 260 us through httpx2's AsyncClient (2 cores, `python -m tests.benchmarks.gateway`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from urllib.parse import urlsplit

import h11

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.hub.network import CANCELLED, Line
from weighbridge.running.endpoints.way import Way
from weighbridge.server.tunnel import connect

_CONNECT_S = 10.0
_READ_BYTES = 1 << 16


class Answer:
    """An engine's answer: its status, its headers by their names in small letters, and its body piece by piece."""

    def __init__(
        self, connection: h11.Connection, reader: asyncio.StreamReader, head: h11.Response, way: Way | None
    ) -> None:
        self._connection = connection
        self._reader = reader
        self._way = way
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        self.status = head.status_code
        self.count = 0

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. Raises EngineFailed("engine.silent") where the engine ends in mid-answer."""
        while True:
            event = await _next_event(self._connection, self._reader, self._way)
            if isinstance(event, h11.Data):
                self.count += len(event.data)
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

    def require_readable(self) -> None:
        """Raise EngineFailed where a server elsewhere answers with a web page, or packs its answers."""
        if self._way is not None and self.status == 200:
            self._way.require_readable(self.headers.get("content-type", ""), self.headers.get("content-encoding", ""))


@contextlib.asynccontextmanager
async def post(url: str, headers: Mapping[str, str], body: bytes, way: Way | None = None) -> AsyncIterator[Answer]:
    """Send a JSON body and wait for the head of the answer. Leaving the block closes the connection.

    With `way`, along it: encrypted, by the proxy, written down, and cut where its model is stopped. Raises
    EngineFailed where the engine cannot be reached or hangs up before it has answered ("engine.silent", or a code of
    "endpoint."), and Refused("endpoint.offline").
    """
    if way is None:
        async with _asked(url, headers, body, None) as answer:
            yield answer
        return
    line = way.begin()
    answer_now: Answer | None = None
    try:
        async with _asked(url, headers, body, way) as answer:
            answer_now = answer
            line.answered(answer.status)
            answer.require_readable()
            yield answer
        line.ended(answer.count)
    except WeighbridgeError as error:
        line.ended(None, error.code)
        raise
    finally:
        _given_up(line, answer_now)


def _given_up(line: Line, answer: Answer | None) -> None:
    """What is not over yet was cut short by whoever asked: nothing broke it."""
    line.ended(None if answer is None else answer.count, CANCELLED)


@contextlib.asynccontextmanager
async def _asked(url: str, headers: Mapping[str, str], body: bytes, way: Way | None) -> AsyncIterator[Answer]:
    place = urlsplit(url)
    try:
        async with asyncio.timeout(_CONNECT_S):
            line = await connect(place, way)
    except (OSError, TimeoutError, h11.ProtocolError) as error:
        raise _silent(error, way) from error
    leave = _cut_at_stop(way, line.writer)
    try:
        connection = h11.Connection(h11.CLIENT)
        head = _head(place.netloc, line.target, {**headers, **line.headers}, body)
        await _send(connection, line.writer, head, body)
        event = await _next_event(connection, line.reader, way)
        while isinstance(event, h11.InformationalResponse):
            event = await _next_event(connection, line.reader, way)
        if not isinstance(event, h11.Response):
            raise _silent(None, way)
        yield Answer(connection, line.reader, event, way)
    finally:
        leave()
        line.writer.transport.abort()


def _cut_at_stop(way: Way | None, writer: asyncio.StreamWriter) -> Callable[[], None]:
    """Have the connection cut where the endpoint's model is stopped. Returns what ends that."""
    if way is None:
        return _nothing
    loop = asyncio.get_running_loop()

    def cut() -> None:
        with contextlib.suppress(RuntimeError):  # the port has stopped meanwhile, and its connections with it
            loop.call_soon_threadsafe(writer.transport.abort)

    return way.at_stop(cut)


def _nothing() -> None:
    """Nobody is to be told."""


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


async def _next_event(
    connection: h11.Connection, reader: asyncio.StreamReader, way: Way | None
) -> h11.Event | type[h11.PAUSED]:
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
    except (OSError, h11.RemoteProtocolError) as error:
        raise _silent(error, way) from error
    if isinstance(event, h11.ConnectionClosed):
        raise _silent(None, way)
    assert not isinstance(event, type) or event is h11.PAUSED
    return event


def _silent(error: Exception | None, way: Way | None) -> WeighbridgeError:
    if way is not None:
        return way.fault(error or ConnectionResetError("no answer"))
    reason = "" if error is None else str(error) or type(error).__name__
    return EngineFailed("engine.silent", reason=reason)
