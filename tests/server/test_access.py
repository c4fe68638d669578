import json
import time

import pytest
from tests.server.conftest import ORIGIN
from tests.server.fakes import chat, connect, read_reply, request

from weighbridge.server.access import host_allowed, origin_allowed

OWN = [
    "localhost:2412",
    "localhost",
    "LOCALHOST.",
    "LocalHost.:80",
    "127.0.0.1:2412",
    "127.0.0.1",
    "127.8.9.1:1",
    "[::1]:2412",
    "[::1]",
    "[0:0:0:0:0:0:0:1]:5",
]
FOREIGN = [
    "evil.example:2412",
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.localhost",
    "127.0.0.1@evil.example",
    "evil.example#127.0.0.1",
    "192.168.1.5:2412",
    "10.0.0.1",
    "0.0.0.0:2412",
    "[::]:2412",
    "[fe80::1]",
    "::1",
    "[::1",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "localhost:abc",
    "localhost:80:80",
    "localhost..",
    "",
    " ",
    "ⅼocalhost",
    "127.0.0.1, evil.example",
]


@pytest.mark.parametrize("host", OWN)
def test_own_names_are_let_in(host):
    assert host_allowed([host], "1.1")


@pytest.mark.parametrize("host", FOREIGN)
def test_foreign_names_are_not(host):
    assert not host_allowed([host], "1.1")
    assert not host_allowed([host], "1.0")


def test_a_host_may_be_missing_in_http_1_0_alone():
    assert host_allowed([], "1.0")
    assert not host_allowed([], "1.1")
    assert not host_allowed(["localhost", "localhost"], "1.1")
    assert not host_allowed(["localhost", "evil.example"], "1.1")


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://localhost:5174", "https://localhost:5173", "HTTP://LOCALHOST:5173",
     "http://localhost:5173/", "http://localhost:5173.evil.example", "http://127.0.0.1:5173"],
)  # fmt: skip
def test_origins_off_the_list_are_refused(origin):
    assert not origin_allowed([origin], frozenset({ORIGIN}))


def test_the_list_is_closed_until_opened():
    assert origin_allowed([], frozenset())
    assert not origin_allowed([ORIGIN], frozenset())
    assert origin_allowed([ORIGIN], frozenset({ORIGIN}))
    assert not origin_allowed([ORIGIN, ORIGIN], frozenset({ORIGIN}))


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/v1/models/tiny", "/nothing"])
@pytest.mark.parametrize("host", ["evil.example:2412", "127.0.0.1.evil.example", "192.168.1.5"])
def test_a_foreign_host_reaches_no_route(house, path, host):
    reply = house.send(request(path=path, host=host))
    assert reply.status == 421
    assert reply.error["code"] == "access.host"
    assert host in reply.error["message"]
    assert house.last_row().status == 421


def test_a_request_without_host(house, caplog):
    assert house.send(request(host=None, version="1.0")).status == 200
    with connect(house.port) as line:
        line.sendall(request(host=None))
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 400")
    assert "Invalid HTTP request" in caplog.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:9"])
def test_a_simple_request_of_a_foreign_page_is_refused(house, origin):
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
    reply = house.send(chat(body, headers=[("Origin", origin), ("Content-Type", "text/plain")]))
    assert (reply.status, reply.error["code"]) == (403, "access.origin")
    assert reply.header("access-control-allow-origin") == []
    assert house.engines.asked == []
    assert house.send(request(method="OPTIONS", headers=[("Origin", origin)])).status == 403


def test_an_allowed_preflight_needs_no_key(house):
    asked = [
        ("Origin", ORIGIN),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type,x-stainless-os"),
        ("Access-Control-Request-Private-Network", "true"),
    ]
    reply = house.send(request("OPTIONS", "/v1/chat/completions", headers=asked))
    assert (reply.status, reply.body) == (204, b"")
    assert reply.header("access-control-allow-origin") == [ORIGIN]
    assert reply.header("access-control-allow-headers") == ["authorization,content-type,x-stainless-os"]
    assert reply.header("access-control-allow-private-network") == ["true"]
    assert "POST" in reply.header("access-control-allow-methods")[0]
    assert reply.header("vary") == ["Origin"]


def test_odd_header_names_are_not_repeated(house):
    asked = [("Origin", ORIGIN), ("Access-Control-Request-Headers", "a b; c")]
    reply = house.send(request("OPTIONS", headers=asked))
    assert reply.header("access-control-allow-headers") == ["authorization, content-type"]


def test_options_without_origin_names_the_methods(house):
    assert house.send(request("OPTIONS")).header("allow") == ["GET, POST, OPTIONS"]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (request(headers=[("Origin", ORIGIN)]), 200),
        (request(path="/nothing", headers=[("Origin", ORIGIN)]), 404),
        (request(path="/v1/models/no-such", headers=[("Origin", ORIGIN)]), 404),
        (request("DELETE", headers=[("Origin", ORIGIN)]), 405),
        (chat(b"{:", headers=[("Origin", ORIGIN)]), 400),
        (chat({"messages": [], "model": "tiny"}, headers=[("Origin", ORIGIN)]), 400),
    ],
)
def test_an_allowed_page_reads_errors_too(house, raw, status):
    reply = house.send(raw)
    assert reply.status == status
    assert reply.header("access-control-allow-origin") == [ORIGIN]


def test_a_fault_of_ours_is_told_with_the_origin(house, caplog):
    house.shelf.models = None
    with connect(house.port) as line:
        line.sendall(request(path="/v1/models", headers=[("Origin", ORIGIN)]))
        reply = read_reply(line)
    assert (reply.status, reply.error["code"]) == (500, "internal")
    assert reply.header("access-control-allow-origin") == [ORIGIN]
    until = time.monotonic() + 5
    while "TypeError" not in caplog.text and time.monotonic() < until:
        time.sleep(0.005)
    assert "TypeError" in caplog.text
