"""Streaming one file from the Hub. Without an answer in five seconds the Hub counts as out of reach."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.base.errors import Unreachable
from weighbridge.base.task import Task

if TYPE_CHECKING:
    import httpx2

ANSWER_S = 5.0
READ_S = 20.0
_POLL_S = 0.05
_PIECE_BYTES = 256 << 10


def from_hub(address: str, part: Path, size_bytes: int, task: Task) -> None:
    """Write the file at `address` to `part`. Raises Unreachable, whose `reason` tells why; Cancelled; OSError."""
    import httpx2

    task.step(0, size_bytes, "connecting")
    with httpx2.Client(follow_redirects=True, timeout=httpx2.Timeout(READ_S, connect=ANSWER_S)) as client:
        try:
            response = _Opening(client, address).wait(task)
            try:
                _stream(response, part, size_bytes, task)
            finally:
                response.close()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            task.check()
            raise Unreachable("hub.unreachable", reason=str(error) or type(error).__name__) from error


def _stream(response: httpx2.Response, part: Path, size_bytes: int, task: Task) -> None:
    declared = response.headers.get("content-length")
    if response.status_code != 200:
        raise Unreachable("hub.unreachable", reason=f"HTTP {response.status_code}")
    if declared is not None and declared != str(size_bytes):
        raise Unreachable("hub.unreachable", reason=f"{declared} bytes, not {size_bytes}")
    task.on_cancel(lambda: _hang_up(response))
    try:
        with part.open("wb") as file:
            done = 0
            for piece in response.iter_raw(_PIECE_BYTES):
                done += len(piece)
                task.step(done, size_bytes, "downloading")
                if done > size_bytes:
                    raise Unreachable("hub.unreachable", reason=f"more than {size_bytes} bytes")
                file.write(piece)
    finally:
        task.on_cancel(None)


def _hang_up(response: httpx2.Response) -> None:
    """Wake a read that waits for the network, from another thread."""
    stream = response.extensions.get("network_stream")
    wire = stream.get_extra_info("socket") if stream is not None else None
    if isinstance(wire, socket.socket):
        with suppress(OSError):
            wire.shutdown(socket.SHUT_RDWR)


class _Opening(threading.Thread):
    """A request on a thread of its own, because looking up a name can take longer than any time-out of a socket."""

    def __init__(self, client: httpx2.Client, address: str) -> None:
        super().__init__(name="hub request", daemon=True)
        self._client, self._address = client, address
        self._lock = threading.Lock()
        self._abandoned = False
        self._response: httpx2.Response | None = None
        self._fault: Exception | None = None

    def wait(self, task: Task) -> httpx2.Response:
        """The response once its head is here. Raises Unreachable after ANSWER_S, Cancelled, or the request's fault."""
        self.start()
        try:
            for _ in range(int(ANSWER_S / _POLL_S)):
                self.join(_POLL_S)
                task.check()
                if not self.is_alive():
                    break
        finally:
            with self._lock:
                self._abandoned = True
                response, fault = self._response, self._fault
        if fault is not None:
            raise fault
        if response is None:
            raise Unreachable("hub.unreachable", reason=f"no answer in {ANSWER_S:g} s")
        return response

    def run(self) -> None:
        try:
            headers = {"Accept-Encoding": "identity"}
            response = self._client.send(self._client.build_request("GET", self._address, headers=headers), stream=True)
        except Exception as error:
            self._fault = error
            return
        with self._lock:
            if not self._abandoned:
                self._response = response
                return
        response.close()
