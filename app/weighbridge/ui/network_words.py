"""What the page Network says of requests. No Qt here."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from weighbridge.base.units import seconds, size
from weighbridge.base.words import mark, plural, text
from weighbridge.hub.network import CANCELLED, Request

PURPOSES: Mapping[str, str] = {
    "branches": mark("Branches of a model"),
    "card": mark("Card of a model"),
    "config": mark("Configuration of a model"),
    "endpoint": mark("Endpoint"),
    "file": mark("Address of a file"),
    "header": mark("Header of a model"),
    "package index": mark("Package index"),
    "repository": mark("Files of a model"),
    "search": mark("Search"),
    "starter": mark("Starter model"),
    "token": mark("Whose the token is"),
}
"""Purposes in words; any other is the name of the file that was fetched."""

FAULTS: Mapping[str, str] = {
    CANCELLED: mark("Cancelled"),
    "endpoint.broken": mark("No connection"),
    "endpoint.certificate": mark("Not proven who it is"),
    "endpoint.name": mark("No connection"),
    "endpoint.proxy": mark("Stopped by a proxy"),
    "endpoint.refused": mark("No connection"),
    "endpoint.timeout": mark("Stalled"),
    "hub.certificate": mark("Not proven who it is"),
    "hub.portal": mark("A web page instead"),
    "hub.proxy": mark("Stopped by a proxy"),
    "hub.stalled": mark("Stalled"),
    "hub.unreachable": mark("No connection"),
}
"""What ended a request, by the code of its error, in a few words."""

_BAD = 400


def purpose_in_words(request: Request) -> str:
    """Why it was made."""
    known = PURPOSES.get(request.purpose)
    return text(known) if known else request.purpose


def time_in_words(request: Request) -> str:
    """When it began, by the clock of this machine."""
    return time.strftime("%H:%M:%S", time.localtime(request.when))


def received_in_words(request: Request) -> str:
    """How much came; nothing where that is not known (yet)."""
    return "" if request.received_bytes is None else size(request.received_bytes)


def took_in_words(request: Request) -> str:
    """How long it took; nothing while it runs."""
    return "" if request.seconds is None else seconds(request.seconds * 1000)


def status_in_words(request: Request) -> str:
    """What came of it: the status of HTTP, or that it broke off, or failed."""
    if request.seconds is None:
        return text("Under way") if request.status is None else text("{status}, under way", status=request.status)
    if request.error is not None and request.status is None:
        return text(FAULTS.get(request.error, mark("Failed")))
    if request.error is not None:
        return text("{status}, broken off", status=request.status)
    return text("Ended") if request.status is None else str(request.status)


def badge_of(request: Request) -> tuple[str, str]:
    """The kind of the badge that the status stands in, and its words."""
    if request.error == CANCELLED:
        return "unknown", status_in_words(request)
    failed = request.error is not None or (request.status or 0) >= _BAD
    kind = "no" if failed else "fits" if request.seconds is not None else "unknown"
    return kind, status_in_words(request)


def is_meant(request: Request, words: Sequence[str]) -> bool:
    """Whether each of `words`, in small letters, is in what the request's row says."""
    said = " ".join(cells(request)).casefold()
    return all(word in said for word in words)


def cells(request: Request) -> tuple[str, ...]:
    """The row of a request: time, host, purpose, received, took, status."""
    return (
        time_in_words(request),
        request.host,
        purpose_in_words(request),
        received_in_words(request),
        took_in_words(request),
        status_in_words(request),
    )


def as_text(requests: Iterable[Request]) -> str:
    """Requests to be copied: one a line, cells apart by tabs, the day and the method with them."""
    lines = ["\t".join((_day(request), request.method, *cells(request)[1:])) for request in requests]
    return "\n".join(lines)


def hosts_in_words(requests: Iterable[Request]) -> str:
    """ "3 hosts"; "" before any was asked."""
    count = len({request.host for request in requests})
    return plural("{count} host", "{count} hosts", count) if count else ""


def sum_in_words(requests: Sequence[Request]) -> str:
    """ "41 requests to 3 hosts, 1.2 GiB received"."""
    made = plural("{count} request", "{count} requests", len(requests))
    received = size(sum(request.received_bytes or 0 for request in requests))
    hosts = hosts_in_words(requests)
    return text("{requests} to {hosts}, {received} received", requests=made, hosts=hosts, received=received)


def _day(request: Request) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(request.when))
