"""Streaming one file from the Hub. Without an answer in five seconds the Hub counts as out of reach."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx2

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.access import Access
from weighbridge.hub.errors import BadAnswer
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.streaming import hang_up
from weighbridge.hub.transport import LIMIT, PURPOSE, Transport

ANSWER_S = 5.0
READ_S = 20.0
_POLL_S = 0.05
_PIECE_BYTES = 256 << 10


def from_hub(path: str, part: Path, size_bytes: int, task: Task, access: Access, log: NetworkLog) -> None:
    """Write the Hub's file at `path` to `part`. Raises Unreachable, whose `reason` tells why; Cancelled; OSError."""
    task.step(0, size_bytes, "connecting")
    address = f"{access.endpoint()}/{path}"
    timeout = httpx2.Timeout(READ_S, connect=ANSWER_S)
    with httpx2.Client(transport=Transport(access, log), follow_redirects=True, timeout=timeout) as client:
        try:
            response = _Opening(client, address).wait(task)
            try:
                _stream(response, part, size_bytes, task)
            finally:
                response.close()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Unreachable("hub.unreachable", reason=str(error) or type(error).__name__) from error
        except BadAnswer as bad:
            raise Unreachable("hub.unreachable", reason=f"HTTP {bad.answer.status}") from None
        except (Unreachable, Refused) as error:
            task.check()
            raise Unreachable("hub.unreachable", reason=error.values.get("reason", error.code)) from error


def _stream(response: httpx2.Response, part: Path, size_bytes: int, task: Task) -> None:
    declared = response.headers.get("content-length")
    if response.status_code != 200:
        raise Unreachable("hub.unreachable", reason=f"HTTP {response.status_code}")
    if declared is not None and declared != str(size_bytes):
        raise Unreachable("hub.unreachable", reason=f"{declared} bytes, not {size_bytes}")
    task.on_cancel(lambda: hang_up(response))
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
            said = {PURPOSE: "starter", LIMIT: None}
            request = self._client.build_request("GET", self._address, headers=headers, extensions=said)
            response = self._client.send(request, stream=True)
        except Exception as error:
            self._fault = error
            return
        with self._lock:
            if not self._abandoned:
                self._response = response
                return
        response.close()
