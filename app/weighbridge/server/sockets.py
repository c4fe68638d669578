"""Taking a port on loopback, in both address families."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys

import psutil

from weighbridge.base.errors import Refused

_NO_SUCH_FAMILY = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT, errno.ENOPROTOOPT})
_TRIES = 100


def take(host: str, port: int, *, next_free: bool = False) -> list[socket.socket]:
    """Bound sockets for `host` and `port`: 127.0.0.1, and ::1 as well where it exists, for "localhost" may mean either.

    Port 0 lets the system choose. With `next_free`, up to 100 ports after a taken one are tried. Raises Refused:
    "port.host" where `host` is no loopback address, "port.taken" (`by` names the program, `free` another port),
    "port.not_allowed" for a port that needs rights, "port.bad".
    """
    if not _is_loopback(host):
        raise Refused("port.host", host=host)
    if not 0 <= port < 1 << 16:
        raise Refused("port.bad", port=port)
    last = min(port + _TRIES, (1 << 16) - 1) if next_free else port
    for candidate in range(port, last + 1):
        taken = _take_one(host, candidate)
        if taken:
            return taken
    by, free = holder(port), _free_after(host, port)
    raise (
        Refused("port.taken", port=port, free=free, by=by)
        if by
        else Refused("port.taken_unknown", port=port, free=free)
    )


def holder(port: int) -> str | None:
    """The program that listens on `port`, by name and process id; None where the system does not tell."""
    try:
        for open_socket in psutil.net_connections("tcp"):
            here = open_socket.laddr
            if here and here.port == port and open_socket.status == psutil.CONN_LISTEN and open_socket.pid:
                return f"{psutil.Process(open_socket.pid).name()} ({open_socket.pid})"
    except (psutil.Error, OSError):
        return None
    return None


def _free_after(host: str, port: int) -> int:
    """The next port that is free now; 0, which stands for any, where none of the next hundred is."""
    for candidate in range(port + 1, min(port + _TRIES, (1 << 16) - 1) + 1):
        if taken := _take_one(host, candidate):
            for each in taken:
                each.close()
            return candidate
    return 0


def _take_one(host: str, port: int) -> list[socket.socket]:
    """Both loopbacks on one port, or nothing where either is taken."""
    first = _bound(host, port)
    if first is None:
        return []
    if host != "127.0.0.1":
        return [first]
    try:
        second = _bound("::1", first.getsockname()[1])
    except OSError as error:
        if error.errno in _NO_SUCH_FAMILY:
            return [first]
        first.close()
        raise
    if second is None:
        first.close()
        return _take_one(host, 0) if port == 0 else []
    return [first, second]


def _bound(host: str, port: int) -> socket.socket | None:
    """None where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:  # a port whose last connections still linger is free
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
        # Two programs may bind one port and only the first to listen has it: know it now.
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            return None
        if error.errno == errno.EACCES:
            raise Refused("port.not_allowed", port=port) from error
        raise
    return made


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
