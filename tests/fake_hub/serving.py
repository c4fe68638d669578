"""An HTTP server on loopback that can go wrong while it sends."""

from __future__ import annotations

import contextlib
import gzip
import math
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

from tests.fake_hub.content import read
from tests.fake_hub.exchange import Answer, Request
from tests.fake_hub.faults import Corrupt, Fault, Midway, Reset, Slow, Stall

Answering = Callable[[Request], tuple[Answer, Fault | None]]
_RATE_STEPS_PER_S = 50


class Service:
    """A server called `name` at a port that the system chose. `answering` is asked from many threads."""

    def __init__(self, name: str, answering: Answering, context: ssl.SSLContext | None = None) -> None:
        self.name, self.answering, self.context = name, answering, context
        self.closing = threading.Event()
        self.away = False
        self.errors: list[BaseException] = []
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), name=f"fake {name}")

    @property
    def address(self) -> str:
        scheme = "https" if self.context else "http"
        return f"{scheme}://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def drop_connections(self) -> None:
        """Closes every connection that is open now, as a network that goes away does."""
        self._server.hang_up()

    def stop(self) -> None:
        """Ends every stall, closes every connection, and waits for all threads."""
        self.closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingTCPServer):
    daemon_threads = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, service: Service) -> None:
        self.service = service
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if self.service.context:
            connection = self.service.context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False, suppress_ragged_eofs=False
            )
        with self._lock:
            self._open.add(connection)
        return connection, address

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return not self.service.away

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.service.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        """Says nothing: `hub.requests` tells."""

    def setup(self) -> None:
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        super().setup()

    def do_GET(self) -> None:
        self._exchange()

    def do_HEAD(self) -> None:
        self._exchange()

    def do_POST(self) -> None:
        self._exchange()

    def _exchange(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        service = self.server.service
        request = Request(service.name, self.command, self.path, headers, self.rfile.read(length))
        answer, fault = service.answering(request)
        request.fault = fault
        if fault is not None:
            answer = fault.change(answer)
        request.status = answer.status
        bodiless = self.command == "HEAD"
        if isinstance(fault, Midway) and (bodiless or fault.after < 0) and not self._survives(fault):
            return
        self._head(answer)
        if not bodiless:
            self._body(request, answer, fault)

    def _head(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.compressed:
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(answer.length))
        self.end_headers()

    def _body(self, request: Request, answer: Answer, fault: Fault | None) -> None:
        if answer.compressed:
            packed = gzip.compress(read(answer.content))
            request.sent = len(packed)
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed))
            return
        for piece in _pieces(answer, fault):
            if isinstance(fault, Midway) and request.sent == fault.after and not self._survives(fault):
                return
            if isinstance(fault, Slow):
                self.server.service.closing.wait(len(piece) / fault.bytes_per_second)
            request.sent += len(piece)
            self.wfile.write(piece)

    def _survives(self, fault: Midway) -> bool:
        """Lets it happen. Whether the answer goes on afterwards."""
        if isinstance(fault, Stall):
            self.server.service.closing.wait(None if math.isinf(fault.seconds) else fault.seconds)
            return True
        self.close_connection = True
        if isinstance(fault, Reset):
            self._reset()
        return False

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.close(self.connection.detach())


def _pieces(answer: Answer, fault: Fault | None) -> Iterator[bytes | memoryview]:
    """The body, parted where the fault is."""
    if isinstance(fault, Midway) and fault.after > 0:
        middle = min(answer.end, answer.start + fault.after)
        yield from answer.content.pieces(answer.start, middle)
        yield from answer.content.pieces(middle, answer.end)
    elif isinstance(fault, Corrupt):
        yield from answer.content.pieces(answer.start, fault.at)
        for piece in answer.content.pieces(fault.at, fault.at + 1):
            yield bytes([piece[0] ^ 0xFF])
        yield from answer.content.pieces(fault.at + 1, answer.end)
    elif isinstance(fault, Slow):
        step = max(1, fault.bytes_per_second // _RATE_STEPS_PER_S)
        for piece in answer.content.pieces(answer.start, answer.end):
            for at in range(0, len(piece), step):
                yield piece[at : at + step]
    else:
        yield from answer.content.pieces(answer.start, answer.end)
