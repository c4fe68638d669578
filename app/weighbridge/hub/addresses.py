"""Which addresses may be asked, and which of them gets the token. Pure: names are looked up elsewhere.

Https only; http only between loopback addresses, where the Hub's own address (the endpoint) is one. Whatever the Hub
leads to must be public: not private, link-local, loopback or multicast. The endpoint itself was set by the user and may
be private (a mirror in an office), but then only over https.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from weighbridge.base.errors import Refused

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_NUMBER_LIKE = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_CLOSED = tuple(
    ip_network(each)
    for each in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.168.0.0/16",
        "224.0.0.0/3",
        "::/128",
        "::1/128",
        "fc00::/7",
        "fe80::/9",
        "ff00::/8",
    )
)
"""Not what `ip_address().is_private` says: that counts 198.18.0.0/15 too, which proxies on this machine answer with for
every name there is."""
_WITH_IPV4 = (ip_network("64:ff9b::/96"), ip_network("::/96"))
"""IPv6 addresses whose last four bytes are the IPv4 address that is meant: of translators (RFC 6052), and old ones."""


@dataclass(frozen=True)
class Origin:
    """Scheme, host and port: what has to be the same for two addresses to be of one place. `host` in small letters,
    IPv6 without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether its host is this machine, by its name or number."""
        return names_loopback(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


def origin_of(address: str) -> Origin:
    """Where `address` leads. Raises Refused("hub.address", host=, reason=) at one that is none, that is not http or
    https, or that holds a user's name; `reason` is the part that is refused.
    """
    import httpx2  # the parser of what asks, so that both read the same

    try:
        url = httpx2.URL(address)
        port = url.port
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise Refused("hub.address", host="", reason=str(error)) from None
    host = url.raw_host.decode("ascii").lower().rstrip(".")
    if host and not _HOST.fullmatch(host):
        raise Refused("hub.address", host="", reason=host)
    if port is not None and not 0 < port < 1 << 16:
        raise Refused("hub.address", host=host, reason=f":{port}")
    if url.scheme not in _PORTS or not host:
        raise Refused("hub.address", host=host, reason=f"{url.scheme}:")
    if url.userinfo:
        raise Refused("hub.address", host=host, reason="@")
    return Origin(url.scheme, host, port or _PORTS[url.scheme])


def endpoint_of(address: str) -> Origin:
    """The origin of the Hub's own address, as the user has set it. Raises Refused("hub.address") at http that leaves
    this machine, and at what `origin_of` refuses.
    """
    origin = origin_of(address)
    if origin.scheme == "http" and not origin.loopback:
        raise Refused("hub.address", host=origin.host, reason="http:")
    return origin


def require_allowed(address: Origin, endpoint: Origin) -> None:
    """Raise Refused("hub.address") where the Hub at `endpoint` must not lead to `address`, as far as can be told
    before its name is looked up.
    """
    if address == endpoint:
        return
    if address.scheme == "http" and not (address.loopback and endpoint.loopback):
        raise Refused("hub.address", host=address.host, reason="http:")
    if address.loopback and not endpoint.loopback:
        raise Refused("hub.address", host=address.host, reason=address.host)
    number = _number(address.host)
    if number is not None:
        require_number(address.host, address.port, number, endpoint)
    elif _NUMBER_LIKE.fullmatch(address.host.rpartition(".")[2]):  # 0x7f.1, 2130706433: numbers to a resolver
        raise Refused("hub.address", host=address.host, reason=address.host)


def require_number(host: str, port: int, number: str, endpoint: Origin) -> None:
    """Raise Refused("hub.address") where `host`, which leads to the address `number`, must not be connected to."""
    meant = _meant(number)
    if names_loopback(host):
        allowed = meant.is_loopback and (endpoint.loopback or (host, port) == (endpoint.host, endpoint.port))
    elif (host, port) == (endpoint.host, endpoint.port):
        allowed = True
    else:
        allowed = not any(meant in closed for closed in _CLOSED) or (meant.is_loopback and endpoint.loopback)
    if not allowed:
        raise Refused("hub.address", host=host, reason=number)


def names_loopback(host: str) -> bool:
    """Whether a host, by its name or number, is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    number = _number(host)
    return number is not None and _meant(number).is_loopback


def _number(host: str) -> str | None:
    try:
        ip_address(host)
    except ValueError:
        return None
    return host


def _meant(number: str) -> IPv4Address | IPv6Address:
    """The address that is reached in the end: the IPv4 one within an IPv6 one, where it holds one."""
    address = ip_address(number.partition("%")[0])
    if isinstance(address, IPv4Address):
        return address
    within = address.ipv4_mapped or address.sixtofour
    if within is None and any(address in each for each in _WITH_IPV4) and int(address) > 1:
        within = IPv4Address(int(address) & 0xFFFF_FFFF)
    return within or address
