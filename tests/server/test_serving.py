import asyncio
import contextlib
import os
import socket
import sys
import threading
import time

import httpx2
import pytest
from tests.chat.standin import StandIn, chunk
from tests.server.fakes import Engines, Shelf, chat, connect, events, model, read_reply, request, send

from weighbridge.base.errors import Refused
from weighbridge.server import sockets
from weighbridge.server.gateway import gateway
from weighbridge.server.requests import RequestRecords
from weighbridge.server.serving import Port

HI = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def engines():
    return Engines()


@pytest.fixture
def port(engines):
    made = Port(gateway(Shelf((model("tiny"),)), engines, RequestRecords()))
    yield made
    made.stop()


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as six:
            six.bind(("::1", 0))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def listener(host="127.0.0.1", port=0):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((host, port))
        held.listen()
        yield held.getsockname()[1]


def free_port():
    with listener() as found:
        return found


def test_opens_and_closes_and_opens_again(port):
    url = port.start(0)
    number = port.port
    assert url == port.url == f"http://127.0.0.1:{number}"
    assert send(port, request()).json == {"status": "ok"}
    port.stop()
    assert (port.url, port.port) == (None, None)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", number))
    assert port.start(number) == url
    with pytest.raises(RuntimeError):
        port.start(0)


@pytest.mark.skipif(not has_ipv6(), reason="this host has no ::1")
def test_both_loopbacks_answer(port):
    port.start(0)
    with socket.create_connection(("::1", port.port)) as line:
        line.sendall(request(host=f"[::1]:{port.port}"))
        assert read_reply(line).json == {"status": "ok"}
    with socket.create_connection(("localhost", port.port)) as line:
        line.sendall(request(host=f"localhost:{port.port}"))
        assert read_reply(line).json == {"status": "ok"}


def test_only_loopback_is_listened_on(port):
    port.start(0)
    with socket.socket() as other:
        other.settimeout(2)
        assert other.connect_ex(("127.0.0.2", port.port)) != 0
    for host in ("0.0.0.0", "::", "192.168.1.5", "localhost", "evil.example", ""):
        with pytest.raises(Refused) as caught:
            Port(None, host).start(0)
        assert caught.value.code == "port.host"


def test_a_taken_port_is_told_with_its_holder(port):
    with listener() as taken:
        with pytest.raises(Refused) as caught:
            port.start(taken)
        assert caught.value.code == "port.taken"
        assert caught.value.values["port"] == taken
        assert str(os.getpid()) in caught.value.values["by"]
        assert taken < caught.value.values["free"] <= taken + 100
    assert port.url is None
    assert port.start(taken).endswith(f":{taken}")


def test_a_holder_that_is_not_known(port, monkeypatch):
    monkeypatch.setattr(sockets, "holder", lambda _: None)
    with listener() as taken, pytest.raises(Refused) as caught:
        port.start(taken)
    assert (caught.value.code, caught.value.values["port"]) == ("port.taken_unknown", taken)


def test_where_no_port_after_a_taken_one_is_free_any_is_offered(monkeypatch):
    monkeypatch.setattr(sockets, "_take_one", lambda host, port: [])
    for taken in (2412, 65_535):
        with pytest.raises(Refused) as caught:
            sockets.take("127.0.0.1", taken)
        assert caught.value.values["free"] == 0


def test_the_next_free_port_is_taken_when_asked(port):
    with listener() as taken:
        port.start(taken, next_free=True)
        assert taken < port.port <= taken + 100
        assert send(port, request()).status == 200


@pytest.mark.skipif(not has_ipv6(), reason="this host has no ::1")
def test_a_port_taken_on_the_other_loopback_is_taken(port):
    """Else `localhost` would lead to the other program."""
    number = free_port()
    with listener("::1", number):
        with pytest.raises(Refused) as caught:
            port.start(number)
        assert caught.value.code == "port.taken"
        port.start(number, next_free=True)
        assert port.port != number


def test_a_host_without_ipv6(port, monkeypatch):
    real = socket.socket

    def no_six(family=socket.AF_INET, *more, **named):
        if family == socket.AF_INET6:
            raise OSError(97, "Address family not supported by protocol")
        return real(family, *more, **named)

    monkeypatch.setattr(sockets.socket, "socket", no_six)
    port.start(0)
    assert send(port, request()).status == 200


def test_ipv6_alone(engines):
    if not has_ipv6():
        pytest.skip("this host has no ::1")
    six = Port(gateway(Shelf(()), engines, RequestRecords()), "::1")
    assert six.start(0) == f"http://[::1]:{six.port}"
    six.stop()


def test_a_port_that_needs_rights(port, monkeypatch):
    class Guarded(socket.socket):
        def bind(self, address):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sockets.socket, "socket", Guarded)
    with pytest.raises(Refused) as caught:
        port.start(80, next_free=True)
    assert (caught.value.code, caught.value.values) == ("port.not_allowed", {"port": 80})


@pytest.mark.parametrize("number", [-1, 65536, 10**9])
def test_a_number_that_is_no_port(port, number):
    with pytest.raises(Refused) as caught:
        port.start(number)
    assert caught.value.code == "port.bad"


def test_stopping_twice_or_before_the_start_is_nothing(port):
    port.stop()
    port.start(0)
    port.stop()
    port.stop()


def stopped_within_s(port):
    began = time.monotonic()
    port.stop()
    return time.monotonic() - began


@pytest.mark.parametrize("streamed", [True, False])
def test_stopping_ends_the_work_and_tells_the_caller(port, engines, streamed):
    gone = []

    def script(line):
        line.head()
        if streamed:
            line.chunk(chunk(model="tiny", content="half"))
        gone.append(line.wait_for_hang_up())

    with StandIn(script) as engine:
        engines.url = engine.url
        port.start(0)
        replies = []
        with connect(port) as line:
            line.sendall(chat({**HI, "stream": streamed}))
            assert engine.asked.wait(5)
            reader = threading.Thread(target=lambda: replies.append(read_reply(line)))
            reader.start()
            time.sleep(0.1)
            assert stopped_within_s(port) < 2
            reader.join()
    assert gone == [True]
    assert engines.out == 0
    if streamed:
        half, last = events(replies[0])
        assert half["choices"][0]["delta"]["content"] == "half"
        assert last["error"]["code"] == "port.stopping"
    else:
        assert (replies[0].status, replies[0].error["code"]) == (503, "port.stopping")


def test_stopping_ends_those_who_wait_for_a_model(port, engines):
    engines.holding = True
    port.start(0)
    with connect(port) as line:
        line.sendall(chat(HI))
        while not engines.futures:
            time.sleep(0.005)
        assert stopped_within_s(port) < 2
        assert read_reply(line).status == 503
    assert engines.futures[0].cancelled()


def test_stopping_does_not_wait_for_a_reader_that_does_not_read(port, engines, caplog):
    def script(line):
        line.head()
        while True:
            line.chunk(chunk(model="tiny", content="x" * 10_000))

    with StandIn(script) as engine:
        engines.url = engine.url
        port.start(0)
        with connect(port) as line:
            line.sendall(chat({**HI, "stream": True}))
            assert engine.asked.wait(5)
            time.sleep(0.3)
            assert stopped_within_s(port) < 2.5
    assert engines.out == 0


def test_idle_connections_do_not_hold_the_port(port):
    port.start(0)
    with connect(port), connect(port) as used:
        used.sendall(request())
        assert read_reply(used).status == 200
        assert stopped_within_s(port) < 2


def test_half_a_request_does_not_hold_the_port(port):
    port.start(0)
    with connect(port) as head, connect(port) as body:
        head.sendall(b"POST /v1/chat")
        body.sendall(chat(HI)[:-5])
        time.sleep(0.05)
        assert stopped_within_s(port) < 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody rebind")
def test_a_port_can_be_reopened_at_once_after_use(port):
    port.start(0)
    number = port.port
    for _ in range(3):
        send(port, request())
        port.stop()
        port.start(number)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT"])
def test_a_caller_that_sends_no_whole_head_is_let_go(port, monkeypatch, sent):
    monkeypatch.setattr("weighbridge.server.connections.HEAD_S", 0.2)
    port.start(0)
    with socket.create_connection(("127.0.0.1", port.port), timeout=5) as caller:
        caller.sendall(sent)
        received = b""
        while piece := caller.recv(4096):
            received += piece
        assert received.startswith(b"HTTP/1.1 200") == (b"health" in sent)


def test_a_long_answer_is_no_silence(monkeypatch):
    monkeypatch.setattr("weighbridge.server.connections.HEAD_S", 0.1)

    async def slow(scope, receive, send):
        await asyncio.sleep(0.5)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    port = Port(slow)
    url = port.start(0)
    try:
        assert httpx2.get(url, trust_env=False).text == "ok"
    finally:
        port.stop()
