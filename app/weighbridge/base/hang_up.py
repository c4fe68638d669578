"""Cutting a connection from another thread: how a request is given up while its server is silent."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping
from typing import Any

from weighbridge.base.errors import Cancelled


class HangUp:
    """The connection of one request, found as httpx2 makes it: give `watch` as the request's extension "trace"."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_cut = False

    @property
    def is_cut(self) -> bool:
        """Whether it was cut."""
        return self._is_cut

    def watch(self, name: str, info: Mapping[str, Any]) -> None:
        """Hear from the HTTP client that a connection was made. What TLS wraps is a socket of its own."""
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
        if self._is_cut:
            self._shut()

    def check(self) -> None:
        """Raise Cancelled once cut."""
        if self._is_cut:
            raise Cancelled

    def cut(self) -> None:
        """End the request, also where it waits for the other side."""
        self._is_cut = True
        self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            # Closed already where the answer ended at this very moment.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
