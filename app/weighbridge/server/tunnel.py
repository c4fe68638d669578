"""The connection for one request: straight to an engine, or along the way to an endpoint's server."""

from __future__ import annotations

import asyncio
import base64
from urllib.parse import SplitResult, unquote, urlsplit

import h11

from weighbridge.running.endpoints.way import Way

_READ_BYTES = 1 << 12
Line = tuple[asyncio.StreamReader, asyncio.StreamWriter, str]
"""Where to read and write, and what the request is to name as its target."""


async def connect(place: SplitResult, way: Way | None) -> Line:
    """A connection to `place`, encrypted where its address says so. Raises OSError; h11.RemoteProtocolError where a
    proxy does not let it through.
    """
    path, port = place.path, place.port or (443 if place.scheme == "https" else 80)
    tls = way.tls() if way is not None else None
    if way is None or way.proxy is None:
        name = place.hostname if tls is not None else None
        reader, writer = await asyncio.open_connection(place.hostname, port, ssl=tls, server_hostname=name)
        return reader, writer, path
    reader, writer = await _to_proxy(urlsplit(way.proxy), way)
    try:
        if tls is None:
            return reader, writer, f"{place.scheme}://{place.netloc}{path}"
        await _ask_through(f"{place.hostname}:{port}", urlsplit(way.proxy), reader, writer)
        await writer.start_tls(tls, server_hostname=place.hostname)
    except BaseException:
        writer.transport.abort()
        raise
    return reader, writer, path


async def _to_proxy(proxy: SplitResult, way: Way) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    tls = way.tls() if proxy.scheme == "https" else None
    port = proxy.port or (443 if proxy.scheme == "https" else 80)
    return await asyncio.open_connection(proxy.hostname, port, ssl=tls)


async def _ask_through(
    target: str, proxy: SplitResult, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Have the proxy connect us (RFC 9110, 9.3.6)."""
    connection = h11.Connection(h11.CLIENT)
    headers = [("Host", target), *_login(proxy)]
    asked = h11.Request(method="CONNECT", target=target, headers=headers)
    writer.write((connection.send(asked) or b"") + (connection.send(h11.EndOfMessage()) or b""))
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(_READ_BYTES))
    if not isinstance(event, h11.Response) or event.status_code != 200:
        status = event.status_code if isinstance(event, h11.Response) else 502
        raise ProxyRefused(f"HTTP {status}")


class ProxyRefused(OSError):
    """The proxy does not let a connection through."""


def _login(proxy: SplitResult) -> list[tuple[str, str]]:
    if proxy.username is None:
        return []
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return [("Proxy-Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")]
