"""Asks a running engine for an answer, on the caller's thread."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import httpx2

from weighbridge.base.errors import Cancelled, EngineFailed
from weighbridge.base.printable import json_bytes
from weighbridge.base.task import Task
from weighbridge.chat.adapters import with_adapters
from weighbridge.chat.events import Event
from weighbridge.chat.failure import failure
from weighbridge.chat.stream import StreamParser
from weighbridge.running.lease import Lease

MAX_ERROR_BYTES = 1 << 16
_CONNECT_S = 10.0
_ASKED: Mapping[str, Any] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "timings_per_token": True,
    "return_progress": True,
}


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen. None leaves a value to the engine."""

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None

    def body(self) -> dict[str, float | int]:
        """The values that are set, by their names in a request."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def chat_body(model: str, messages: list[Mapping[str, Any]], sampling: Sampling) -> dict[str, Any]:
    """A request for the next message after `messages`."""
    return {"model": model, "messages": messages, **sampling.body()}


class ChatClient:
    """Streams answers from engines. One may serve several threads at a time; close it at the end."""

    def __init__(self) -> None:
        # An engine is silent while it reads a long prompt, so reading has no time limit: the user cancels. Each request
        # has a connection of its own, which a cancel may cut. The environment's proxy is for the network, not for
        # loopback. Engines speak without TLS: no authority is trusted, and no list of them read, which takes 50 ms.
        self._http = httpx2.Client(
            trust_env=False,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=httpx2.Timeout(None, connect=_CONNECT_S),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
        )

    def stream(self, lease: Lease, body: Mapping[str, Any], on_event: Callable[[Event], None], task: Task) -> None:
        """Ask for an answer to `body` and give its events to `on_event`, on this thread, until it ends.

        The last event is Done, or StreamFault where the answer broke off. `task.cancel()` from any thread ends it at
        once with Cancelled, also while the engine is silent; the engine sees the connection close and stops. Raises
        EngineFailed (the engine refused, or hung up before it answered) and Refused (the prompt is too long). The lease
        stays the caller's.
        """
        line = _Line()
        task.on_cancel(line.cut)
        try:
            self._stream(lease, body, on_event, line)
        except httpx2.HTTPError as error:
            task.check()
            raise EngineFailed("engine.silent", reason=str(error) or type(error).__name__) from error
        finally:
            task.on_cancel(None)

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _stream(self, lease: Lease, body: Mapping[str, Any], on_event: Callable[[Event], None], line: _Line) -> None:
        with self._http.stream(
            "POST",
            lease.address("/chat/completions"),
            content=json_bytes(lease.spoken({**with_adapters(body, lease.load), **_ASKED})),
            headers={**lease.headers, "Content-Type": "application/json", "Accept-Encoding": "identity"},
            extensions={"trace": line.watch},
        ) as answer:
            if answer.status_code != 200:
                raise failure(answer.status_code, _some(answer))
            parser = StreamParser()
            # An answer that breaks off is told by the parser's last event: what came before it stays.
            with contextlib.suppress(httpx2.HTTPError):
                for data in answer.iter_raw():
                    for event in parser.feed(data):
                        line.check()
                        on_event(event)
                    if parser.ended:
                        return
            for event in parser.finish():
                line.check()
                on_event(event)


class _Line:
    """The connection of one request: found when it is made, cut at a cancel from another thread."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_cut = False

    def watch(self, name: str, info: Mapping[str, Any]) -> None:
        """Hear from the HTTP client that a connection was made."""
        if name in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")
        if self._is_cut:
            self._shut()

    def check(self) -> None:
        """Raise Cancelled once cut."""
        if self._is_cut:
            raise Cancelled

    def cut(self) -> None:
        """End the request, also where it waits for the engine."""
        self._is_cut = True
        self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            # Closed already where the answer ended at this very moment.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def _some(answer: httpx2.Response) -> bytes:
    """The start of a refusal's body."""
    read = bytearray()
    for data in answer.iter_raw():
        read += data
        if len(read) >= MAX_ERROR_BYTES:
            break
    return bytes(read[:MAX_ERROR_BYTES])
