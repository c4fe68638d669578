"""The address of a server as a person gives it: made whole, and how far what is sent there goes. Pure."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address, ip_network

from weighbridge.base.errors import Refused
from weighbridge.hub.addresses import Origin, names_loopback, origin_of
from weighbridge.library.model import Reach

MOST_LETTERS = 2_000
_NETWORKS = tuple(
    ip_network(each)
    for each in (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
        "fe80::/10",
    )
)
_NETWORK_NAMES = (".local", ".lan", ".home", ".internal", ".home.arpa")
"""Endings of names that no name server of the internet knows."""

_ROUTES = re.compile(r"/(chat/completions|completions|embeddings|models|rerank)$")
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_NOWHERE = ("0.0.0.0", "::")


def reach_of(host: str) -> Reach:
    """How far what is sent to `host` goes, by its name or number alone: a name that may be of either is the
    internet's.
    """
    if names_loopback(host):
        return Reach.HERE
    try:
        number = ip_address(host.partition("%")[0])
    except ValueError:
        near = "." not in host or host.endswith(_NETWORK_NAMES)
        return Reach.NETWORK if near else Reach.INTERNET
    if isinstance(number, IPv6Address) and number.ipv4_mapped is not None:
        number = number.ipv4_mapped
    return Reach.NETWORK if any(number in each for each in _NETWORKS) else Reach.INTERNET


def place_of(typed: str) -> tuple[Origin, str | None]:
    """Where `typed` leads, and what stands before the routes there: None where it says nothing of that.

    Without a scheme it is http for what does not leave the network, else https. A route at the end ("/models") is left
    off. Raises Refused("endpoint.address", address=, reason=).
    """
    shown = typed.strip()[:200]
    if len(typed) > MOST_LETTERS or not typed.strip():
        raise Refused("endpoint.address", address=shown, reason="")
    whole = _with_scheme(typed.strip())
    try:
        origin = origin_of(whole)
    except Refused as error:
        raise Refused("endpoint.address", address=_without_login(shown), reason=error.values["reason"]) from None
    if origin.host in _NOWHERE:
        raise Refused("endpoint.address", address=shown, reason=origin.host)
    rest = whole.partition("://")[2]
    path = rest[rest.index("/") :] if "/" in rest else ""
    return origin, path_of(path) if path.strip("/") else None


def path_of(typed: str) -> str:
    """What stands before the routes: without a slash or a route at its end; "" where nothing does.

    Raises Refused("endpoint.address").
    """
    path = _ROUTES.sub("", typed.strip().rstrip("/"))
    path = path if path.startswith("/") or not path else f"/{path}"
    if not _PATH.fullmatch(path) or any(part in (".", "..") for part in path.split("/")):
        raise Refused("endpoint.address", address=_without_login(typed)[:100], reason=path[:100])
    return path


def _with_scheme(typed: str) -> str:
    if "://" in typed:
        return typed
    try:
        host = origin_of(f"http://{typed}").host
    except Refused:
        return f"https://{typed}"
    return f"https://{typed}" if reach_of(host) is Reach.INTERNET else f"http://{typed}"


def _without_login(typed: str) -> str:
    """A password in an address is nobody's business."""
    return re.sub(r"[^/@]*@", "", typed)
