"""A stand-in for an engine: a server on loopback that does with each request what its script says."""

import contextlib
import json
import socket
import threading

PATIENCE_S = 5


class Line:
    """One connection of the stand-in, as its script sees it."""

    def __init__(self, connection):
        self.connection = connection
        self.headers = {}
        self.body = {}

    def read_request(self):
        received = b""
        while b"\r\n\r\n" not in received:
            piece = self.connection.recv(1 << 16)
            if not piece:
                return False
            received += piece
        head, _, body = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        while len(body) < int(self.headers.get("content-length", 0)):
            body += self.connection.recv(1 << 16)
        self.body = json.loads(body or b"{}")
        return True

    def send(self, data):
        self.connection.sendall(data)

    def head(self, status=200, content_type="text/event-stream"):
        """Begin an answer in chunks."""
        self.send(f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())

    def chunk(self, data):
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self):
        self.send(b"0\r\n\r\n")

    def whole(self, data, status=200):
        """A whole answer; `data` is bytes or a JSON value."""
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.send(head.encode() + body)

    def wait_for_hang_up(self):
        """True once the other side has closed; False after some seconds."""
        self.connection.settimeout(PATIENCE_S)
        try:
            return self.connection.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True

    def reset(self):
        """Go away without a proper end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


class StandIn:
    """The server. `script(line)` answers; `lines` are the requests so far; `hung_up` counts callers gone early."""

    def __init__(self, script=None):
        self.script = script
        self.lines = []
        self.faults = []
        self.asked = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = []
        self._accepting = threading.Thread(target=self._accept)

    def __enter__(self):
        self._accepting.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for thread in self._threads:
            thread.join()
        assert not self.faults, self.faults

    def use(self, script):
        """A new script, and a clean sheet."""
        self.script, self.lines = script, []
        self.asked.clear()

    @property
    def body(self):
        """What the last request held."""
        return self.lines[-1].body

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        line = Line(connection)
        with connection:
            try:
                if line.read_request():
                    self.lines.append(line)
                    self.asked.set()
                    self.script(line)
            except (ConnectionError, BrokenPipeError):
                pass
            except Exception as error:
                self.faults.append(repr(error))


def chunk(finish=None, model="m", **delta):
    """A chunk of an answer, as one event."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]})


def event(value):
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def streaming(*events, done=DONE):
    """A script that streams `events` and ends properly."""

    def script(line):
        line.head()
        for each in events:
            line.chunk(each)
        if done:
            line.chunk(done)
        line.end()

    return script
