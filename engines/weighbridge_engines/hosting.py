"""The HTTP loop around a `Session`: an OpenAI-style port on loopback for a library that has none.

Streams carry what llama.cpp's server sends too, on every chunk where `timings_per_token` was asked for (`timings`) and
while the prompt is read where `return_progress` was asked for (`prompt_progress`), so that one reader serves all
engines. A reader that hangs up ends the work at the next chunk.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import select
import socket
import threading
import traceback
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from weighbridge_engines.answers import Answer
from weighbridge_engines.api import (
    SILENCE,
    TEMPLATE_ERROR,
    Capability,
    Chunk,
    ContextExceeded,
    Engine,
    Load,
    RequestRefused,
    ScoringSession,
    Session,
    TemplateRefused,
)
from weighbridge_engines.owner import OwnedSession
from weighbridge_engines.requests import request_of
from weighbridge_engines.scores import scored_input, scores

BODY_LIMIT_BYTES = 64 << 20
T = TypeVar("T")


class HungUp(Exception):
    """The reader closed the connection."""


class Host(ThreadingHTTPServer):
    """One session behind a port. Listens at once; answers 503 until `session` is set.

    `able` is what its engine can do; what it cannot is refused. Port 0 takes one that is free.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, key: str, load: Load, able: Collection[Capability] = ()) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.key = key
        self.load = load
        self.able = able
        self.session: Session | None = None
        self.turns = threading.BoundedSemaphore(max(1, load.slots) if Capability.PARALLEL in able else 1)


def host(engine: Engine, load: Load, port: int, key: str) -> None:
    """Listen, open the session, serve until the process is ended."""
    assert engine.open is not None
    server = Host(port, key, load, engine.capabilities)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    parallel = Capability.PARALLEL in engine.capabilities
    server.session = engine.open(load) if parallel else OwnedSession(partial(engine.open, load))
    threading.Event().wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Host
    _streaming = False

    def do_GET(self) -> None:
        if self.path == "/health":
            ready = self.server.session is not None
            self._json(
                HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE, {"status": "ok" if ready else "loading"}
            )
        else:
            self._fault(HTTPStatus.NOT_FOUND, "not_found_error", f"no route {self.path[:100]}")

    def do_POST(self) -> None:
        if not hmac.compare_digest(self.headers.get("Authorization", ""), f"Bearer {self.server.key}"):
            self._fault(HTTPStatus.UNAUTHORIZED, "authentication_error", "Invalid API Key")
        elif self.path not in self._routes():
            self._fault(HTTPStatus.NOT_FOUND, "not_found_error", f"no route {self.path[:100]}")
        elif self.server.session is None:
            self._fault(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable_error", "Loading model")
        else:
            self._answer(self._routes()[self.path], self.server.session)

    def _routes(self) -> Mapping[str, Callable[[Any, dict[str, Any]], None]]:
        chat = {"/v1/chat/completions": self._chat}
        return {**chat, "/v1/score": self._score} if Capability.SCORE in self.server.able else chat

    def _answer(self, route: Callable[[Any, dict[str, Any]], None], session: Session) -> None:
        self._streaming = False
        try:
            body = self._body()
        except (ValueError, RecursionError) as error:
            self._fault(HTTPStatus.BAD_REQUEST, "invalid_request_error", str(error)[:200])
            return
        with contextlib.suppress(HungUp, BrokenPipeError, ConnectionResetError):
            try:
                route(session, body)
            except ContextExceeded as error:
                self._context_fault(error)
            except RequestRefused as error:
                kind = TEMPLATE_ERROR if isinstance(error, TemplateRefused) else "invalid_request_error"
                self._fault(HTTPStatus.BAD_REQUEST, kind, f"{error.reason[:500].rstrip('.')}.", param=error.field)
            except (HungUp, OSError):
                raise
            except Exception as error:  # the session's own fault: told to the caller, and to the log
                self._session_fault(error)

    def _chat(self, session: Session, body: dict[str, Any]) -> None:
        request = request_of(body, self.server.able, self.server.load.sampling)
        answer = Answer(self._model, body)
        with self._turn(), contextlib.closing(self._watched(session.stream(request))) as chunks:
            self._send_answer(answer, chunks, bool(body.get("stream")))

    def _score(self, session: ScoringSession, body: dict[str, Any]) -> None:
        told = scored_input(body)
        with self._turn():
            tokens = session.tokens(told) if isinstance(told, str) else told
            with contextlib.closing(self._watched(session.score(tokens))) as parts:
                found = [one for part in parts for one in part]
        self._json(HTTPStatus.OK, scores(self._model, tokens, found))

    @property
    def _model(self) -> str:
        return self.server.load.alias or self.server.load.model

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        while not self.server.turns.acquire(timeout=0.1):
            self._check_connection()
        try:
            yield
        finally:
            self.server.turns.release()

    def _watched(self, pieces: Iterator[T]) -> Generator[T, None, None]:
        """The pieces, as long as the reader is there; closing this closes the session's own iterator."""
        try:
            for piece in pieces:
                self._check_connection()
                if piece != SILENCE:
                    yield piece
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    def _check_connection(self) -> None:
        readable, _, _ = select.select([self.connection], [], [], 0)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            self.close_connection = True
            raise HungUp

    def _send_answer(self, answer: Answer, chunks: Iterator[Chunk], streamed: bool) -> None:
        first = next(chunks, Chunk(finish="stop"))
        if not streamed:
            answer.add(first)
            for chunk in chunks:
                answer.add(chunk)
            self._json(HTTPStatus.OK, answer.whole())
            return
        self._start_stream()
        for event in answer.opening():
            self._event(event)
        for event in answer.add(first):
            self._event(event)
        for chunk in chunks:
            for event in answer.add(chunk):
                self._event(event)
        for event in answer.closing():
            self._event(event)
        self.wfile.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")

    def _session_fault(self, error: Exception) -> None:
        traceback.print_exc()
        fault = {"code": 500, "type": "server_error", "message": f"{type(error).__name__}: {error}"[:500]}
        if not self._streaming:
            self._json(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": fault})
            return
        self._event({"error": fault})
        self.wfile.write(b"0\r\n\r\n")

    def _start_stream(self) -> None:
        self._streaming = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _event(self, event: dict[str, Any]) -> None:
        data = b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _body(self) -> dict[str, Any]:
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_LIMIT_BYTES:
            raise ValueError("the body is too large")
        body = json.loads(self.rfile.read(length))
        if not isinstance(body, dict):
            raise ValueError("the body is not an object")
        return body

    def _fault(self, status: HTTPStatus, kind: str, message: str, **more: object) -> None:
        # A refusal may come before the body was read; what is left of it must not be taken for the next request.
        self.close_connection = True
        self._json(status, {"error": {"code": status.value, "type": kind, "message": message, **more}})

    def _context_fault(self, error: ContextExceeded) -> None:
        self._fault(
            HTTPStatus.BAD_REQUEST,
            "exceed_context_size_error",
            "the request exceeds the context",
            n_prompt_tokens=error.prompt_tokens,
            n_ctx=error.context,
        )

    def _json(self, status: HTTPStatus, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """No line a request: the log is the engine's own."""
