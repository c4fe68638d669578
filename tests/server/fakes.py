"""A library and a supervisor that say what a test wants, and a way to speak to the port in raw bytes."""

import json
import socket
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from weighbridge.base.errors import NotFound
from weighbridge.library.model import Model
from weighbridge.running.lease import Lease
from weighbridge.running.state import Running, State
from weighbridge_engines.api import Engine, Load


def model(name, problem=None):
    path = Path(f"/models/{name}.gguf")
    return Model(name, name, path, (path,), "gguf", "Q4_1", 1000, problem=problem)


@dataclass
class Shelf:
    models: tuple

    def resolve(self, name):
        found = [each for each in self.models if each.id == name]
        if not found:
            raise NotFound("model.unknown", name=name, served=[each.id for each in self.models])
        return found[0]


@dataclass
class Engines:
    """Lends at once, unless `holding`: then the futures stay open. Counts what is out and what came back."""

    url: str = ""
    context: int | None = 4096
    holding: bool = False
    error: Exception | None = None
    loaded: tuple = ()
    out: int = 0
    asked: list = field(default_factory=list)
    futures: list = field(default_factory=list)
    engine: Engine | None = None
    load: Load | None = None

    def lease(self, wanted):
        self.asked.append(wanted.id)
        future = Future()
        self.futures.append(future)
        if self.error is not None:
            future.set_exception(self.error)
        elif not self.holding:
            future.set_result(self.lend(wanted.id))
        return future

    def lend(self, model_id):
        self.out += 1
        return Lease(model_id, self.url, "secret", self.context, self._back, self.engine, self.load)

    def _back(self):
        self.out -= 1

    def running(self):
        return tuple(
            Running(name, name, "echo", State.READY, self.load or Load(name), since_s=since)
            for since, name in enumerate(self.loaded)
        )


@dataclass
class Reply:
    status: int
    headers: list
    body: bytes

    def header(self, name):
        return [value for key, value in self.headers if key == name]

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """The error, after a look at its shape and size."""
        assert len(self.body) < 2048
        error = self.json["error"]
        assert set(error) - {"n_prompt_tokens", "n_ctx"} == {"message", "type", "code", "param"}
        assert error["message"] and "{" not in error["message"].replace('{"type": "text"', "")
        return error


def request(method="GET", path="/health", headers=(), body=b"", host="127.0.0.1", version="1.1"):
    lines = [f"{method} {path} HTTP/{version}"]
    if host is not None:
        lines.append(f"Host: {host}")
    if body:
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chat(body, **more):
    return request(
        "POST", "/v1/chat/completions", body=body if isinstance(body, bytes) else json.dumps(body).encode(), **more
    )


def connect(port):
    return socket.create_connection(("127.0.0.1", port.port), timeout=10)


def read_reply(line):
    """One whole reply, its chunked body checked to its last marker."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = line.recv(1 << 16)
        assert piece, f"closed after {received!r}"
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (each.partition(":") for each in rest)]
    named = dict(headers)
    if "content-length" in named:
        while len(body) < int(named["content-length"]):
            body += line.recv(1 << 16)
    elif named.get("transfer-encoding") == "chunked":
        while not body.endswith(b"0\r\n\r\n"):
            piece = line.recv(1 << 16)
            assert piece, f"the chunked body has no end: {body[-200:]!r}"
            body += piece
        body = unchunked(body)
    return Reply(int(first.split()[1]), headers, body)


def unchunked(body):
    made = b""
    while True:
        size, _, body = body.partition(b"\r\n")
        if int(size, 16) == 0:
            return made
        made, body = made + body[: int(size, 16)], body[int(size, 16) + 2 :]


def send(port, raw):
    with connect(port) as line:
        line.sendall(raw)
        return read_reply(line)


def events(reply):
    """The payloads of a streamed reply; [DONE] as it is."""
    frames = reply.body.decode().split("\n\n")
    assert frames[-1] == ""
    payloads = [frame.removeprefix("data: ") for frame in frames[:-1]]
    return [payload if payload == "[DONE]" else json.loads(payload) for payload in payloads]
