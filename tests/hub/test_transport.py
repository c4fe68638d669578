"""What leaves and what does not, where the Hub is not on this machine."""

import socket
import threading
from contextlib import contextmanager

import pytest
from tests.fake_hub import FakeHub, Redirect

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.hub.access import Access, access_of
from weighbridge.hub.client import Hub
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.remote import Located
from weighbridge.hub.token import Token

BIG = bytes(range(256)) * 400
NAMES = {"hub.example": ["127.0.0.1"], "cdn.example": ["127.0.0.1"], "public.example": ["3.160.1.2", "10.0.0.1"]}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fake():
    with FakeHub(tls=True) as made:
        made.tokens["hf_TESTTOKEN"] = "ada"
        made.add("o/r", {"m.gguf": BIG, "config.json": b"{}"})
        yield made


@contextmanager
def far(fake, look_up=None):
    """The fake Hub as one that is not on this machine, for all that the program can see."""
    endpoint = f"https://hub.example:{fake.endpoint.rpartition(':')[2]}"
    trust = fake.trust()
    trust.check_hostname = False
    log = NetworkLog()
    access = Access(lambda: endpoint, lambda: Token("hf_TESTTOKEN", "file"), lambda: False)
    hub = Hub(access, log, trust, look_up or (lambda host, port: NAMES[host]))
    try:
        yield hub, log
    finally:
        hub.close()


@pytest.mark.parametrize(
    ("to", "host", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254", "http:"),
        ("https://169.254.169.254/latest/meta-data/", "169.254.169.254", "169.254.169.254"),
        ("http://127.0.0.1:2412/v1/models", "127.0.0.1", "http:"),
        ("https://127.0.0.1/", "127.0.0.1", "127.0.0.1"),
        ("https://localhost/", "localhost", "localhost"),
        ("file:///etc/passwd", "hub.example", "file:"),
        ("https://a@127.0.0.1/", "127.0.0.1", "@"),
        ("http://cdn.example/x", "cdn.example", "http:"),
        ("https://cdn.example/x", "cdn.example", "127.0.0.1"),
        ("https://public.example/x", "public.example", "10.0.0.1"),
    ],
)
@pytest.mark.parametrize("on", ["bytes", "api"])
def test_a_hub_elsewhere_must_not_lead_into_the_house(fake, to, host, reason, on):
    with far(fake) as (hub, log):
        fake.faults.next(Redirect(to), on=on)
        with pytest.raises(Refused) as caught:
            commit = hub.repository("o/r").commit
            hub.small("o/r", commit, "config.json", 10)
        if on == "bytes":
            assert (caught.value.code, caught.value.values) == ("hub.address", {"host": host, "reason": reason})
        assert fake.faults.left == 0
    assert fake.asked(server="cdn") == []
    assert {each.host.partition(":")[0] for each in log.requests if each.status} == {"hub.example"}


def test_where_a_file_is_may_not_be_in_the_house(fake):
    with far(fake) as (hub, _):
        place = hub.locate("o/r", hub.repository("o/r").commit, "m.gguf")
        assert place.url.startswith(fake.cdn)
        with pytest.raises(Refused) as caught, hub.open(place, 0):
            raise AssertionError("must not open")
    assert caught.value.values == {"host": "127.0.0.1", "reason": "127.0.0.1"}
    assert fake.asked(server="cdn") == []


def test_a_name_is_looked_up_once_so_that_its_answer_cannot_change(fake):
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    asked = []

    def look_up(host, port):
        asked.append(host)
        return answers.pop(0)

    with far(fake, look_up) as (hub, _):
        assert hub.repository("o/r").id == "o/r"
    assert asked == ["hub.example"]


def test_a_name_that_nobody_knows(fake):
    def look_up(host, port):
        raise socket.gaierror(-2, "Name or service not known")

    with far(fake, look_up) as (hub, log), pytest.raises(Unreachable) as caught:
        hub.repository("o/r")
    assert caught.value.code == "hub.unreachable"
    assert "not known" in caught.value.values["reason"]
    assert log.requests[0].error == "hub.unreachable"


def test_a_second_address_is_tried_where_the_first_is_dead(fake):
    with far(fake, lambda host, port: ["127.0.0.9", "127.0.0.1"]) as (hub, _):
        assert hub.repository("o/r").id == "o/r"


@contextmanager
def proxy(answer):
    """A proxy that answers every request so. Gives its address and what it was asked."""
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            wire, _ = server.accept()
            with wire:
                heard.append(wire.recv(4096))
                wire.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://me:hunter2@127.0.0.1:{server.getsockname()[1]}", heard
        thread.join()


def test_a_proxy_that_wants_to_know_who_asks(monkeypatch):
    with proxy(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n") as (address, heard):
        monkeypatch.setenv("HTTPS_PROXY", address)
        log = NetworkLog()
        hub = Hub(Access(lambda: "https://hub.example", lambda: Token("hf_TESTTOKEN", "file"), lambda: False), log)
        with pytest.raises(Unreachable) as caught:
            hub.branches("o/r")
        hub.close()
    assert caught.value.code == "hub.proxy"
    assert heard[0].startswith(b"CONNECT hub.example:443 ")
    assert b"hf_TESTTOKEN" not in heard[0]
    assert "hunter2" not in repr(log.requests) + repr(caught.value)


def test_the_hub_on_this_machine_is_not_asked_by_a_proxy(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with FakeHub() as fake:
        fake.add("o/r", {"a.json": b"{}"})
        hub = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: False), NetworkLog())
        assert hub.branches("o/r") == ("main",)
        hub.close()


def test_the_token_is_not_sent_in_clear():
    hub = Hub(Access(lambda: "http://mirror.example", lambda: Token("hf_x", "file"), lambda: False), NetworkLog())
    with pytest.raises(Refused) as caught:
        hub.repository("o/r")
    hub.close()
    assert caught.value.values == {"host": "mirror.example", "reason": "http:"}


def test_an_answer_without_end_is_cut(fake, monkeypatch):
    monkeypatch.setattr("weighbridge.hub.transport.MOST_BYTES", 100)
    with far(fake) as (hub, log), pytest.raises(Unreachable) as caught:
        hub.repository("o/r")
    assert (caught.value.code, caught.value.values["reason"]) == ("hub.server", "> 100 bytes")
    assert log.requests[-1].error == "hub.server"


@pytest.mark.parametrize(
    ("settings", "environment", "endpoint", "offline"),
    [
        ({}, {}, "https://huggingface.co", False),
        ({}, {"HF_ENDPOINT": "https://mirror.example/"}, "https://mirror.example", False),
        (
            {"hub_endpoint": "https://ours.example"},
            {"HF_ENDPOINT": "https://mirror.example"},
            "https://ours.example",
            False,
        ),
        ({"offline": True}, {}, "https://huggingface.co", True),
        ({}, {"HF_HUB_OFFLINE": "1"}, "https://huggingface.co", True),
        ({}, {"HF_HUB_OFFLINE": "0"}, "https://huggingface.co", False),
    ],
)
def test_what_is_set(settings, environment, endpoint, offline):
    from weighbridge.base.settings import Settings

    access = access_of(lambda: Settings(**settings), lambda: None, environment)
    assert (access.endpoint(), access.offline()) == (endpoint, offline)


def test_an_address_of_a_file_that_is_none():
    hub = Hub(Access(lambda: "https://hub.example", lambda: None, lambda: False), NetworkLog())
    with pytest.raises(Refused) as caught, hub.open(Located("file:///etc/passwd", "a" * 64, 1, "b" * 40), 0):
        raise AssertionError("must not open")
    hub.close()
    assert caught.value.code == "hub.address"
