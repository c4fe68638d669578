"""Why a server could not be asked, or answered wrongly, as a cause: the one place where that becomes a code. Pure."""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from http import HTTPStatus

from weighbridge.base.printable import printable
from weighbridge_engines.api import Cause

_SHOWN = 200
_WAIT = re.compile(r"\d{1,9}(\.\d{0,6})?")
_SOURCE_LINE = re.compile(r" \(_ssl\.c:\d+\)")
_NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENETDOWN)


def broken(error: BaseException, title: str, address: str) -> Cause:
    """What a connection to the endpoint `title` at `address` failed with."""
    told = {"endpoint": title, "address": address, "reason": _words(error)}
    chain = tuple(_chain(error))
    for each in chain:
        if code := _code(each):
            return Cause(code, told)
    if any("timeout" in type(each).__name__.casefold() for each in chain):
        return Cause("endpoint.timeout", told)
    return Cause("endpoint.broken", told)


_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (ssl.SSLCertVerificationError, "endpoint.certificate"),
    (ssl.SSLError, "endpoint.tls"),
    (socket.gaierror, "endpoint.name"),
    (ConnectionRefusedError, "endpoint.refused"),
)
"""What a kind of error means; the closer one comes first."""


def _code(error: BaseException) -> str | None:
    if "proxy" in type(error).__name__.casefold():
        return "endpoint.proxy"
    for kind, code in _KINDS:
        if isinstance(error, kind):
            return code
    return "endpoint.no_way" if isinstance(error, OSError) and error.errno in _NO_WAY else None


def answered(status: int, message: str, headers: Mapping[str, str], title: str, address: str) -> Cause | None:
    """What an answer with `status` means; None for a good one, and for a refusal that is about the request itself.

    `message` is the server's own words; of its `headers`, by their names in small letters, two tell more.
    """
    told = {"endpoint": title, "address": address, "status": status, "message": printable(message)[:_SHOWN]}
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        seconds = seconds_to_wait(headers.get("retry-after"))
        return (
            Cause("endpoint.limit", told) if seconds is None else Cause("endpoint.wait", {**told, "seconds": seconds})
        )
    if 300 <= status < 400:
        return Cause("endpoint.redirect", {**told, "location": printable(headers.get("location", "?"))[:_SHOWN]})
    if status >= 500:
        return Cause("endpoint.server", told)
    code = {401: "endpoint.key", 402: "endpoint.credit", 403: "endpoint.denied", 407: "endpoint.proxy"}.get(status)
    return Cause(code, {**told, "reason": f"HTTP {status}"}) if code else None


def message_of(body: bytes) -> str:
    """A server's own words in an answer that is an error; "" where it has none that are short."""
    try:
        read = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        told = read.get(name) if isinstance(read, dict) else None
        told = told.get("message") if isinstance(told, dict) else told
        if isinstance(told, str):
            return told[:500]
    return ""


def seconds_to_wait(retry_after: str | None) -> int | None:
    """What a Retry-After header asks for, rounded up; None without one, or where it gives a date (RFC 9110, 10.2.3)."""
    if retry_after is None or not _WAIT.fullmatch(retry_after.strip()):
        return None
    return max(1, -int(-float(retry_after) // 1))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, and what is wrapped in either."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [each for each in one.args if isinstance(each, BaseException)]
        waiting += [one.__cause__, one.__context__]


def _words(error: BaseException) -> str:
    """Its own words; of a certificate that was refused, what is wrong with it."""
    refused = next((each for each in _chain(error) if isinstance(each, ssl.SSLCertVerificationError)), None)
    said = getattr(refused, "verify_message", "") or str(error) or type(error).__name__
    return printable(_SOURCE_LINE.sub("", said))[:_SHOWN]
