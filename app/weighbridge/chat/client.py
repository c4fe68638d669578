"""Asks a running engine for an answer, on the caller's thread."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import httpx2

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.hang_up import HangUp
from weighbridge.base.printable import json_bytes
from weighbridge.base.task import Task
from weighbridge.chat import whole
from weighbridge.chat.adapters import with_adapters
from weighbridge.chat.events import Event, StreamFault
from weighbridge.chat.failure import failure
from weighbridge.chat.stream import StreamParser
from weighbridge.hub.network import CANCELLED, Line
from weighbridge.running.endpoints.way import Way
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
        self._lock = threading.Lock()
        self._clients: dict[tuple[int, str | None], httpx2.Client] = {}
        # Engines speak without TLS: no authority is trusted, and no list of them read, which takes 50 ms.
        self._trusts_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def stream(self, lease: Lease, body: Mapping[str, Any], on_event: Callable[[Event], None], task: Task) -> None:
        """Ask for an answer to `body` and give its events to `on_event`, on this thread, until it ends.

        The last event is Done, or StreamFault where the answer broke off. `task.cancel()` from any thread ends it at
        once with Cancelled, also while the engine is silent; the engine sees the connection close and stops. Raises
        EngineFailed (the engine refused, or hung up before it answered) and Refused (the prompt is too long, or what
        leaves this computer must not). The lease stays the caller's.
        """
        hang_up = HangUp()
        task.on_cancel(hang_up.cut)
        try:
            if lease.way is None:
                self._stream(lease, body, on_event, hang_up, None)
            else:
                self._stream_along(lease.way, lease, body, on_event, hang_up)
        except httpx2.HTTPError as error:
            task.check()
            if lease.way is not None:
                raise lease.way.fault(error) from error
            raise EngineFailed("engine.silent", reason=str(error) or type(error).__name__) from error
        finally:
            task.on_cancel(None)

    def close(self) -> None:
        """Give the connections back."""
        with self._lock:
            clients, self._clients = tuple(self._clients.values()), {}
        for client in clients:
            client.close()

    def _stream_along(
        self, way: Way, lease: Lease, body: Mapping[str, Any], on_event: Callable[[Event], None], hang_up: HangUp
    ) -> None:
        """The same, written down, and cut where its model is stopped: then the answer is one that broke off."""
        line = way.begin()
        by_stop = HangUp()
        leave = way.at_stop(by_stop.cut)
        try:
            self._stream(lease, body, on_event, hang_up, line, by_stop)
        except WeighbridgeError as error:
            line.ended(None, error.code)
            raise
        except httpx2.HTTPError as error:
            if by_stop.is_cut:
                raise EngineFailed("engine.stopped", model=lease.model_id) from error
            line.ended(None, CANCELLED if hang_up.is_cut else way.fault(error).code)
            raise
        finally:
            line.ended(None, CANCELLED)
            leave()

    def _stream(
        self,
        lease: Lease,
        body: Mapping[str, Any],
        on_event: Callable[[Event], None],
        hang_up: HangUp,
        line: Line | None,
        by_stop: HangUp | None = None,
    ) -> None:
        with self._client(lease.way).stream(
            "POST",
            lease.address("/chat/completions"),
            content=json_bytes(lease.spoken({**with_adapters(body, lease.load), **_ASKED})),
            headers={**lease.headers, "Content-Type": "application/json", "Accept-Encoding": "identity"},
            extensions={"trace": _both(hang_up, by_stop)},
        ) as answer:
            if line is not None:
                line.answered(answer.status_code)
            _require_stream(answer, lease.way, pictured=_is_pictured(body))
            told = _Told(answer, lease.way, lambda: hang_up.is_cut or (by_stop is not None and by_stop.is_cut))
            for event in told.events():
                hang_up.check()
                on_event(event)
            if line is not None:
                line.ended(told.count, CANCELLED if told.is_cut() else None)
            hang_up.check()

    def _client(self, way: Way | None) -> httpx2.Client:
        """One for each proxy and each list of authorities.

        An engine is silent while it reads a long prompt, so reading has no time limit: the user cancels. Each request
        has a connection of its own, which a cancel may cut. The environment's proxy is for the network, not for
        loopback, so that the way says which it is.
        """
        tls = (None if way is None else way.tls()) or self._trusts_nobody
        proxy = None if way is None else way.proxy
        with self._lock:
            known = self._clients.get((id(tls), proxy))
            if known is None:
                known = self._clients[id(tls), proxy] = httpx2.Client(
                    trust_env=False,
                    verify=tls,
                    proxy=proxy,
                    timeout=httpx2.Timeout(None, connect=_CONNECT_S),
                    limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
                )
            return known


def _both(one: HangUp, other: HangUp | None) -> Callable[[str, Mapping[str, Any]], None]:
    """Have both hear of the connection."""

    def watch(name: str, info: Mapping[str, Any]) -> None:
        one.watch(name, info)
        if other is not None:
            other.watch(name, info)

    return watch


def _is_pictured(body: Mapping[str, Any]) -> bool:
    """Whether a message of a request has a picture."""
    contents = [message["content"] for message in body["messages"] if isinstance(message.get("content"), list)]
    return any(part.get("type") == "image_url" for content in contents for part in content)


def _require_stream(answer: httpx2.Response, way: Way | None, *, pictured: bool) -> None:
    """Raise what an answer means that is none, and what a page or a packed body of a server elsewhere means."""
    if answer.status_code != 200:
        raise failure(answer.status_code, _some(answer), way, answer.headers, pictured=pictured)
    if way is not None:
        way.require_readable(answer.headers.get("content-type", ""), answer.headers.get("content-encoding", ""))


class _Told:
    """What an answer tells, as it comes; `count` are the bytes that have come so far. `is_cut`: we have cut it."""

    def __init__(self, answer: httpx2.Response, way: Way | None, is_cut: Callable[[], bool]) -> None:
        self._answer, self._way, self.is_cut = answer, way, is_cut
        self.count = 0

    def events(self) -> Iterator[Event]:
        """Its events. One that breaks off is told by the last of them: what came before it stays."""
        if self._way is None:
            yield from self._streamed()
            return
        as_whole = self._answer.headers.get("content-type", "").lower().startswith("application/json")
        for event in self._whole() if as_whole else self._streamed():
            yield _from_elsewhere(event, self._way) if not self.is_cut() else event

    def _whole(self) -> Iterator[Event]:
        body = _some(self._answer, whole.MOST_BYTES)
        self.count = len(body)
        yield from whole.events_of(body)

    def _streamed(self) -> Iterator[Event]:
        parser = StreamParser()
        try:
            for data in self._answer.iter_raw():
                self.count += len(data)
                yield from parser.feed(data)
                if parser.ended:
                    return
        except httpx2.HTTPError as error:
            if self._way is not None and not self.is_cut():
                self._way.fault(error)
        yield from parser.finish()


def _from_elsewhere(event: Event, way: Way) -> Event:
    """An answer that broke off names the server that it came from."""
    broke_off = isinstance(event, StreamFault) and event.code == "stream.interrupted"
    return StreamFault("endpoint.cut", way.title) if broke_off else event


def _some(answer: httpx2.Response, most_bytes: int = MAX_ERROR_BYTES) -> bytes:
    """The start of a body that is no stream."""
    read = bytearray()
    for data in answer.iter_raw():
        read += data
        if len(read) >= most_bytes:
            break
    return bytes(read[:most_bytes])
