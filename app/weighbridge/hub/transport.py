"""The one way by which requests about the Hub leave: checked, given the token where it is due, and written down.

`httpx2` clients stand on it, ours and the one of huggingface_hub, so that a redirect comes by here too. It raises
errors of ours where `httpx2` would raise its own, which huggingface_hub would retry by itself for half a minute.
"""

from __future__ import annotations

import ssl
import threading
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus

import httpcore2
import httpx2

from weighbridge.base.errors import Refused, Unreachable, WeighbridgeError
from weighbridge.hub.access import Access
from weighbridge.hub.addresses import Origin, origin_of, require_allowed
from weighbridge.hub.allowance import Allowances
from weighbridge.hub.connecting import CheckedBackend, Resolve, resolve
from weighbridge.hub.errors import Answer, BadAnswer, broken
from weighbridge.hub.network import Line, NetworkLog

CONNECT_S, READ_S = 10.0, 10.0
MOST_BYTES = 32 << 20
"""Of an answer that is read whole, redirects among them; what is streamed says so itself."""
PURPOSE, LIMIT = "weighbridge.purpose", "weighbridge.most_bytes"
"""Extensions of a request: why it is made, and how many bytes its answer may have (None: any number)."""

_IDLE_S = 15.0
_CONNECTIONS = 16
_FAULTS = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
    OSError,
)


class Transport(httpx2.BaseTransport):
    """Requests that keep to the rules. Raises Refused("hub.offline" | "hub.address"), Unreachable, and BadAnswer at an
    answer that is neither good nor a redirect."""

    def __init__(
        self,
        access: Access,
        log: NetworkLog,
        tls: ssl.SSLContext | None = None,
        look_up: Resolve = resolve,
        allowances: Allowances | None = None,
    ) -> None:
        self._access, self._log = access, log
        self._allowances = allowances or Allowances()
        self._tls = tls
        self._backend = CheckedBackend(access.origin, look_up)
        self._lock = threading.Lock()
        self._closed = False
        self._pools: dict[str | None, httpcore2.ConnectionPool] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it, once. Its answer's body is still to come."""
        if self._access.offline():
            raise Refused("hub.offline")
        endpoint = self._access.origin()
        address = origin_of(str(request.url))
        require_allowed(address, endpoint)
        token = self._authorise(request, address == endpoint)
        line = self._log.begin(request.url.netloc.decode("ascii"), _purpose(request), request.method)
        try:
            answer = self._pool(address).handle_request(_lower(request))
        except _FAULTS as error:
            raise _told(line, broken(error, address.host)) from error
        except WeighbridgeError as error:
            raise _told(line, error) from None
        line.answered(answer.status)
        response = self._response(answer, request, line, address.host)
        if address == endpoint:
            self._allowances.hear(response.headers)
        try:
            _require_good(response, address.host, address == endpoint, token)
        except BaseException:
            response.close()
            raise
        return response

    def close(self) -> None:
        """End all connections; nothing is asked any more, whoever still wanted to."""
        with self._lock:
            self._closed = True
            pools = tuple(self._pools.values())
            self._pools.clear()
        for pool in pools:
            pool.close()

    def _authorise(self, request: httpx2.Request, at_hub: bool) -> bool:
        """The token goes to the Hub's own scheme, host and port, and nothing else goes anywhere."""
        request.headers.pop("authorization", None)
        request.headers.pop("cookie", None)
        token = self._access.token() if at_hub else None
        if token is not None:
            request.headers["authorization"] = f"Bearer {token.value}"
        return token is not None

    def _pool(self, address: Origin) -> httpcore2.ConnectionPool:
        proxy = proxy_of(address)
        with self._lock:
            if self._closed:
                raise Unreachable("hub.unreachable", host=address.host, reason="closed")
            if proxy not in self._pools:
                self._pools[proxy] = self._made(proxy)
            return self._pools[proxy]

    def _made(self, proxy: str | None) -> httpcore2.ConnectionPool:
        self._tls = self._tls or httpx2.create_ssl_context()
        if proxy is None:
            return httpcore2.ConnectionPool(
                self._tls, max_connections=_CONNECTIONS, keepalive_expiry=_IDLE_S, network_backend=self._backend
            )
        url = httpx2.URL(proxy)
        if url.scheme not in ("http", "https"):
            raise Unreachable("hub.proxy", host=url.host, reason=f"{url.scheme}:")
        bare = str(url.copy_with(userinfo=b""))
        login = (url.username, url.password) if url.userinfo else None
        return httpcore2.HTTPProxy(
            bare, login, ssl_context=self._tls, max_connections=_CONNECTIONS, keepalive_expiry=_IDLE_S
        )

    def _response(self, answer: httpcore2.Response, request: httpx2.Request, line: Line, host: str) -> httpx2.Response:
        redirect = 300 <= answer.status < 400
        limit = MOST_BYTES if redirect else request.extensions.get(LIMIT, MOST_BYTES)
        body = _Body(answer, line, host, limit)
        return httpx2.Response(answer.status, headers=answer.headers, stream=body, extensions=answer.extensions)


class _Body(httpx2.SyncByteStream):
    """The bytes of an answer, counted, and ended where there are more than there may be."""

    def __init__(self, answer: httpcore2.Response, line: Line, host: str, limit: int | None) -> None:
        self._answer, self._line, self._host, self._limit = answer, line, host, limit
        self._count = 0

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._answer.iter_stream():
                self._count += len(piece)
                if self._limit is not None and self._count > self._limit:
                    raise self._ended(Unreachable("hub.server", host=self._host, reason=f"> {self._limit} bytes"))
                yield piece
        except _FAULTS as error:
            raise self._ended(broken(error, self._host)) from error

    def close(self) -> None:
        """Over, whether or not it was read to its end."""
        self._answer.close()
        self._line.ended(self._count)

    def _ended(self, error: Unreachable) -> Unreachable:
        self._line.ended(self._count, error.code)
        return error


def _lower(request: httpx2.Request) -> httpcore2.Request:
    """The request for the layer below, with time-outs whatever the caller has set, and its body as it is."""
    told = request.extensions.get("timeout", {})
    usual = {"connect": CONNECT_S, "read": READ_S, "write": READ_S, "pool": CONNECT_S}
    url = request.url
    return httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions={"timeout": {name: told.get(name) or usual[name] for name in usual}},
    )


def _require_good(response: httpx2.Response, host: str, at_hub: bool, token_sent: bool) -> None:
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        raise BadAnswer(Answer(response.status_code, response.headers, host, at_hub, token_sent))
    if response.has_redirect_location:
        return
    if response.headers.get("content-type", "").lower().startswith(("text/html", "application/xhtml")):
        raise Unreachable("hub.portal", host=host, reason="HTML")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unreachable("hub.server", host=host, reason=response.headers["content-encoding"][:20])


def _told(line: Line, error: WeighbridgeError) -> WeighbridgeError:
    line.ended(None, error.code)
    return error


def _purpose(request: httpx2.Request) -> str:
    """What the request is for: said with it, or seen from the address that huggingface_hub has made."""
    said = request.extensions.get(PURPOSE)
    if isinstance(said, str):
        return said
    path = request.url.path
    if path.endswith("/refs"):
        return "branches"
    if path.endswith("/api/models"):
        return "search"
    return "file" if "/resolve" in path else "repository"


def proxy_of(address: Origin) -> str | None:
    """The proxy that the system or the environment names for an address; none for this machine itself."""
    if address.loopback or urllib.request.proxy_bypass(f"{address.host}:{address.port}"):
        return None
    named = urllib.request.getproxies()
    return named.get(address.scheme) or named.get("all")
