"""How requests travel to a server that is no child of ours: encrypted, by the proxy, written down, cut at a stop."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from weighbridge.base.errors import EngineFailed, Refused, WeighbridgeError
from weighbridge.base.printable import printable
from weighbridge.base.redacted import HIDDEN
from weighbridge.hub.network import Line, NetworkLog
from weighbridge.running.endpoints.faults import answered, broken
from weighbridge_engines.api import Cause

PURPOSE = "endpoint"
HTML = ("text/html", "application/xhtml")


def _nothing() -> None:
    """Nobody is to be told."""


@dataclass
class Way:
    """The way to one endpoint, known as `title`; `address` is where its routes begin.

    `tls` gives what verifies its certificate, None where it is not spoken to so. `proxy` is the environment's proxy for
    it, None where it has none. `key` is what it wants, and is hidden in all that it says. `leaves`: what is sent leaves
    this computer, which `offline()` forbids. `sees`: its model takes pictures, None where nobody says. `lost` is called
    where a connection fails or breaks. Safe to use from any thread.
    """

    title: str
    address: str
    leaves: bool
    log: NetworkLog
    offline: Callable[[], bool]
    tls: Callable[[], ssl.SSLContext | None]
    proxy: str | None = field(default=None, repr=False)
    key: str = field(default="", repr=False)
    sees: bool | None = None
    lost: Callable[[], None] = _nothing
    _cuts: set[Callable[[], None]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, method: str = "POST") -> Line:
        """A request is about to be sent: a line of the account, to be told the rest.

        Raises Refused("endpoint.offline") where it must not be sent, EngineFailed("endpoint.proxy") where the proxy is
        of a kind that is not spoken here.
        """
        if self.leaves and self.offline():
            raise Refused("endpoint.offline", endpoint=self.title)
        if self.proxy is not None and not self.proxy.startswith(("http:", "https:")):
            raise failed(Cause("endpoint.proxy", {"endpoint": self.title, "reason": self.proxy.partition(":")[0]}))
        return self.log.begin(urlsplit(self.address).netloc, PURPOSE, method)

    def at_stop(self, cut: Callable[[], None]) -> Callable[[], None]:
        """Have `cut` called, from another thread, where the endpoint's model is stopped. Returns what ends that."""
        with self._lock:
            self._cuts.add(cut)

        def leave() -> None:
            with self._lock:
                self._cuts.discard(cut)

        return leave

    def stop(self) -> None:
        """Cut every request that is under way."""
        with self._lock:
            cuts = tuple(self._cuts)
        for cut in cuts:
            cut()

    def hidden(self, told: str) -> str:
        """`told` without the key: some servers repeat one that they refuse."""
        return told.replace(self.key, HIDDEN) if self.key else told

    def fault(self, error: BaseException) -> WeighbridgeError:
        """The error for a connection that failed or broke."""
        self.lost()
        return failed(broken(error, self.title, self.address))

    def refusal(self, status: int, message: str, headers: Mapping[str, str]) -> WeighbridgeError | None:
        """The error for an answer with `status`; None where it is about the request itself, or good."""
        message = self.hidden(message)
        if status == HTTPStatus.NOT_FOUND:
            told = {
                "endpoint": self.title,
                "address": self.address,
                "status": status,
                "message": printable(message)[:200],
            }
            return failed(Cause("endpoint.no_model", told))
        cause = answered(status, message, headers, self.title, self.address)
        return None if cause is None else failed(cause)

    def require_readable(self, content_type: str, encoding: str) -> None:
        """Raise EngineFailed where an answer that is good by its status is a web page, or packed."""
        told = {"endpoint": self.title, "address": self.address}
        if content_type.lower().startswith(HTML):
            raise failed(Cause("endpoint.page", told))
        if encoding and encoding.lower() != "identity":
            raise failed(Cause("endpoint.packed", {**told, "packed": encoding[:20]}))


def failed(cause: Cause) -> EngineFailed:
    """`cause` as an error."""
    return EngineFailed(cause.code, (), **cause.values)
