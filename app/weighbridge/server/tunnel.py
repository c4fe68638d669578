"""The connection for one request: straight to an engine, or along the way to an endpoint's server."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

import h11

from weighbridge.running.endpoints.way import Way

_READ_BYTES = 1 << 12


@dataclass(frozen=True)
class Connected:
    """Where to read and write, what the request is to name as its target, and the headers that are for a proxy."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)


async def connect(place: SplitResult, way: Way | None) -> Connected:
    """A connection to `place`, encrypted where its address says so. Raises OSError; h11.RemoteProtocolError where a
    proxy speaks something else.
    """
    tls = way.tls() if way is not None else None
    if way is not None and way.proxy is not None:
        return await _by_proxy(place, urlsplit(way.proxy), way)
    name = place.hostname if tls is not None else None
    reader, writer = await asyncio.open_connection(place.hostname, _port(place), ssl=tls, server_hostname=name)
    return Connected(reader, writer, place.path)


async def _by_proxy(place: SplitResult, proxy: SplitResult, way: Way) -> Connected:
    """A tunnel for what is encrypted; else the proxy asks in our place (RFC 9112, 3.2.2)."""
    reader, writer = await _to_proxy(proxy)
    tls = way.tls()
    if tls is None:
        return Connected(reader, writer, f"{place.scheme}://{place.netloc}{place.path}", _login(proxy))
    try:
        await _ask_through(f"{place.hostname}:{_port(place)}", proxy, reader, writer)
        await writer.start_tls(tls, server_hostname=place.hostname)
    except BaseException:
        writer.transport.abort()
        raise
    return Connected(reader, writer, place.path)


def _port(place: SplitResult) -> int:
    return place.port or (443 if place.scheme == "https" else 80)


async def _to_proxy(proxy: SplitResult) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    tls = ssl.create_default_context() if proxy.scheme == "https" else None
    return await asyncio.open_connection(proxy.hostname, _port(proxy), ssl=tls)


async def _ask_through(
    target: str, proxy: SplitResult, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Have the proxy connect us (RFC 9110, 9.3.6)."""
    connection = h11.Connection(h11.CLIENT)
    headers = [("Host", target), *_login(proxy).items()]
    asked = h11.Request(method="CONNECT", target=target, headers=headers)
    writer.write((connection.send(asked) or b"") + (connection.send(h11.EndOfMessage()) or b""))
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(_READ_BYTES))
    if not isinstance(event, h11.Response) or event.status_code != 200:
        status = event.status_code if isinstance(event, h11.Response) else 502
        raise ProxyRefused(f"HTTP {status}")


class ProxyRefused(OSError):
    """The proxy does not let a connection through."""


def _login(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}
