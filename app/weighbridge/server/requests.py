"""The last requests that came to the port, for whoever shows them. What was asked and answered is not kept."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weighbridge.base.listeners import Listeners

HUNG_UP = 499
"""Stands for the status of a request whose caller hung up before an answer began."""

_NOTE = "weighbridge.note"


@dataclass(frozen=True)
class RequestRow:
    """One request that is over. `time_s` is when it came (seconds since 1970). `model` is the id of the one that was
    meant, or the name that no model has. Unknown tokens are None.

    `status` is that of the answer; `complete` is False where the answer broke off or the caller hung up.
    """

    time_s: float
    method: str
    route: str
    model: str | None
    status: int
    complete: bool
    prompt_tokens: int | None
    output_tokens: int | None
    duration_ms: float
    client: str


@dataclass
class Note:
    """What a route learns about its request as it goes. Belongs to that request alone."""

    model: str | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    complete: bool = True


class RequestRecords:
    """The last `limit` requests. Any thread may read; the server adds."""

    def __init__(self, limit: int = 500) -> None:
        self._lock = threading.Lock()
        self._rows: deque[RequestRow] = deque(maxlen=limit)
        self._listeners: Listeners[[RequestRow]] = Listeners()

    def rows(self) -> tuple[RequestRow, ...]:
        """Oldest first."""
        with self._lock:
            return tuple(self._rows)

    def add(self, row: RequestRow) -> None:
        """Keep `row` and tell the listeners, on this thread."""
        with self._lock:
            self._rows.append(row)
        self._listeners.tell(row)

    def subscribe(self, listener: Callable[[RequestRow], None]) -> Callable[[], None]:
        """Have `listener` called, on the server's thread, with each row to come. Returns what ends that."""
        return self._listeners.add(listener)


def note_of(scope: Scope) -> Note:
    """The note of a request."""
    note = scope.setdefault(_NOTE, Note())
    assert isinstance(note, Note)
    return note


class Recorded:
    """Adds a row for each request that passes, refused ones included."""

    def __init__(self, app: ASGIApp, records: RequestRecords) -> None:
        self._app = app
        self._records = records

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        came_s, started = time.time(), time.perf_counter()
        status = HUNG_UP

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            duration_ms = (time.perf_counter() - started) * 1000
            self._records.add(_row(scope, note_of(scope), came_s, status, duration_ms))


def _row(scope: Scope, note: Note, came_s: float, status: int, duration_ms: float) -> RequestRow:
    client = scope.get("client")
    return RequestRow(
        time_s=came_s,
        method=scope["method"],
        route=scope["path"][:200],
        model=note.model,
        status=status,
        complete=note.complete and status != HUNG_UP,
        prompt_tokens=note.prompt_tokens,
        output_tokens=note.output_tokens,
        duration_ms=duration_ms,
        client=str(client[0]) if client else "",
    )
