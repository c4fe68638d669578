"""Connections to checked addresses alone: a name is looked up once, all that it leads to is checked, and what was
checked is connected to, so that no second answer of a name server can lead elsewhere.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2

from weighbridge.base.errors import WeighbridgeError
from weighbridge.hub.addresses import Origin, require_number

_LIMIT_S = 10.0

Resolve = Callable[[str, int], list[str]]


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system has them. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def checked(look_up: Resolve, host: str, port: int, endpoint: Origin, until: float) -> list[str]:
    """The addresses of `host`, all of which the Hub at `endpoint` may lead to. Raises Refused("hub.address"), and
    httpcore2's errors where there are none, or none until `until`, of the monotonic clock.
    """
    numbers = _LookUp(look_up, host, port).wait(until)
    for number in numbers:
        require_number(host.lower().rstrip("."), port, number, endpoint)
    return numbers


class CheckedBackend(httpcore2.NetworkBackend):
    """Connects as `httpcore2` asks. Raises Refused("hub.address") beside its errors."""

    def __init__(self, endpoint: Callable[[], Origin], look_up: Resolve = resolve) -> None:
        self._endpoint = endpoint
        self._look_up = look_up
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to `host`, within `timeout` seconds, which its name's look-up is part of."""
        until = time.monotonic() + (timeout or _LIMIT_S)
        numbers = checked(self._look_up, host, port, self._endpoint(), until)
        fault: Exception = httpcore2.ConnectError(f"{host}: no address")
        for left, number in zip(range(len(numbers), 0, -1), numbers, strict=True):
            patience_s = max(0.1, (until - time.monotonic()) / left)
            try:
                return self._plain.connect_tcp(number, port, patience_s, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                fault = error
        raise fault


class _LookUp(threading.Thread):
    """Looking up a name on a thread of its own, because that can take longer than any time-out of a socket."""

    def __init__(self, look_up: Resolve, host: str, port: int) -> None:
        super().__init__(name="name look-up", daemon=True)
        self._look_up, self._host, self._port = look_up, host, port
        self._found: list[str] = []
        self._fault: Exception | None = None

    def wait(self, until: float) -> list[str]:
        """The addresses. Raises httpcore2.ConnectTimeout after `until`, httpcore2.ConnectError where there are none."""
        self.start()
        self.join(max(0.0, until - time.monotonic()))
        if self.is_alive():
            raise httpcore2.ConnectTimeout(f"{self._host}: no answer from the name server")
        if isinstance(self._fault, WeighbridgeError):
            raise self._fault
        if self._fault is not None:
            raise httpcore2.ConnectError(str(self._fault)) from self._fault
        return self._found

    def run(self) -> None:
        try:
            self._found = self._look_up(self._host, self._port)
        except (OSError, UnicodeError) as error:
            self._fault = error
