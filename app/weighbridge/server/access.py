"""Who may use the port: programs on this machine, and pages of the origins on the list. Nobody else, in any mode.

A page of a foreign site can make a browser send requests here. Such a request carries the site's Origin; after DNS
rebinding, a Host that is not a loopback name. Both are refused before anything else is looked at.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weighbridge.base.errors import Refused
from weighbridge.server.replies import send_error, send_plain

_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z.-]+))(?::\d{0,5})?")
_METHODS = "GET, POST, OPTIONS"
_HEADER_NAMES = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:\s*,\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+)*")


def host_allowed(hosts: Sequence[str], http_version: str) -> bool:
    """Whether the Host headers of a request name this machine's loopback. HTTP/1.0 alone may leave it out."""
    if not hosts:
        return http_version == "1.0"
    found = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if found is None:
        return False
    name = found["six"] or found["name"].removesuffix(".").lower()
    return name == "localhost" or _is_loopback(name)


def origin_allowed(origins: Sequence[str], allowed: frozenset[str]) -> bool:
    """Whether the Origin headers of a request let it in: none (not a page), or exactly one on the list."""
    return not origins or (len(origins) == 1 and origins[0] in allowed)


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Access:
    """Lets in what `host_allowed` and `origin_allowed` let in; answers preflights, which carry no key."""

    def __init__(self, app: ASGIApp, origins: Sequence[str] = ()) -> None:
        self._app = app
        self._allowed = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origins = headers.getlist("origin")
        if not host_allowed(headers.getlist("host"), scope["http_version"]):
            await send_error(send, Refused("access.host", host=", ".join(headers.getlist("host"))), status=421)
        elif not origin_allowed(origins, self._allowed):
            await send_error(send, Refused("access.origin", origin=", ".join(origins)), status=403)
        elif scope["method"] == "OPTIONS":
            await send_plain(_stamped(send, origins), 204, _preflight(headers))
        else:
            await self._app(scope, receive, _stamped(send, origins) if origins else send)


def _preflight(headers: Headers) -> dict[str, str]:
    if "origin" not in headers:
        return {"Allow": _METHODS}
    asked = headers.get("access-control-request-headers", "")
    answer = {
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": asked if _HEADER_NAMES.fullmatch(asked) else "authorization, content-type",
        "Access-Control-Max-Age": "600",
    }
    if headers.get("access-control-request-private-network") == "true":
        answer["Access-Control-Allow-Private-Network"] = "true"
    return answer


def _stamped(send: Send, origins: Sequence[str]) -> Send:
    """`send`, with exactly one Allow-Origin on whatever is answered."""

    async def stamped(message: Message) -> None:
        if origins and message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origins[0]
            headers.add_vary_header("Origin")
        await send(message)

    return stamped
