"""A server that someone else runs: answers by path, over TLS if wanted, and keeps what it was asked."""

import contextlib
import json
import socket
import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fake_hub.tls import certify

from weighbridge.base.database import Database
from weighbridge.hub.network import NetworkLog
from weighbridge.running.choose import Defaults
from weighbridge.running.endpoints.endpoints import Endpoints
from weighbridge.running.endpoints.keys import Keys
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.echo import ENGINE as ECHO
from weighbridge_engines.endpoint import ENGINE

ENGINES = {engine.id: engine for engine in (ECHO, ENGINE)}


class Asked:
    """One request, as it came."""

    def __init__(self, handler, body):
        self.method, self.path = handler.command, handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = json.loads(body) if body else None


class EndpointServer:
    """`answers` by path: JSON, or a function that is given the handler. `asked` are the requests so far."""

    def __init__(self, answers=None, tls=None):
        self.answers = dict(answers or {})
        self.asked = []
        self.hung_up = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def paths(self):
        return [each.path for each in self.asked]

    def _handler(server):  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self):
                # A client that does not trust us, or goes away, is none of our faults.
                with contextlib.suppress(OSError):
                    super().handle()

            def finish(self):
                with contextlib.suppress(OSError, ValueError):
                    super().finish()

            def _answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                server.asked.append(Asked(self, body))
                answer = server.answers.get(self.path)
                if callable(answer):
                    answer(self)
                elif answer is None:
                    send(self, {"error": {"message": "no such route"}}, 404)
                else:
                    send(self, answer)

            do_GET = do_POST = do_CONNECT = _answer  # noqa: N815 - its names for methods

            def log_message(self, *_):
                pass

            def wait_for_hang_up(self):
                self.connection.settimeout(5)
                with contextlib.suppress(ConnectionError):
                    assert self.connection.recv(1) == b""
                server.hung_up.set()

        return Handler


def send(handler, value, status=200, content_type="application/json", **headers):
    """A whole answer; `value` is JSON, or bytes as they are."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", content_type)
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("Connection", "close")
    for name, told in headers.items():
        handler.send_header(name.replace("_", "-"), told)
    handler.end_headers()
    handler.wfile.write(body)
    handler.close_connection = True


def saying(value, status=200, content_type="application/json", **headers):
    """The same, as an answer of an EndpointServer."""
    return lambda handler: send(handler, value, status, content_type, **headers)


def hanging_up(handler):
    """No answer at all."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def streaming(*frames, end=True):
    """Frames of a stream, in chunks; `end` False: it then waits until the other side hangs up; None: it goes on."""

    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for frame in frames:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
            handler.wfile.flush()
        if end is None:
            return
        if end:
            handler.wfile.write(b"0\r\n\r\n")
        else:
            handler.wait_for_hang_up()
        handler.close_connection = True

    return answer


def listing(*names, **more):
    """A list of models in OpenAI's form."""
    return {"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]}


@dataclass
class Lending:
    """Endpoints with a supervisor that lends their models; `log` is what was asked of the network."""

    endpoints: Endpoints
    supervisor: Supervisor
    log: NetworkLog

    def model(self, name="a@box"):
        return next(model for model in self.endpoints.models() if model.id == name)

    def lease(self, name="a@box"):
        return self.supervisor.lease(self.model(name)).result(20)


@contextlib.contextmanager
def lending(folder, server, tls=None, offline=lambda: False, scales=None, address=None, **options):
    """`server` as the endpoint "box", asked for its models once, with a supervisor over it."""
    log = NetworkLog()
    with contextlib.closing(Database(folder / "endpoints.sqlite3")) as database:
        endpoints = Endpoints(database, Keys(folder / "keys", lambda: None), log, offline, tls)
        endpoints.add(address or server.url, title="box", **options)
        assert endpoints.reach("box").reachable
        supervisor = Supervisor(ENGINES, Defaults(cores=2), scales, endpoints=endpoints)
        try:
            yield Lending(endpoints, supervisor, log)
        finally:
            supervisor.close()


def trusting(folder):
    """What a server with a certificate needs, and what a client that trusts it needs."""
    server, file = certify(folder)
    return server, ssl.create_default_context(cafile=file)


def tunnelling(port):
    """A proxy's answer to CONNECT: what is sent goes to `port`, and back, until either side closes."""

    def answer(handler):
        handler.send_response(200)
        handler.end_headers()
        with socket.create_connection(("127.0.0.1", port)) as there:
            back = threading.Thread(target=_pass_on, args=(there, handler.connection))
            back.start()
            _pass_on(handler.connection, there)
            back.join()
        handler.close_connection = True

    return answer


def _pass_on(one, other):
    with contextlib.suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    for each in (one, other):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
