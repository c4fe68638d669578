"""Addresses as people give them, and how far what is sent there goes."""

import pytest

from weighbridge.base.errors import Refused
from weighbridge.library.model import Reach
from weighbridge.running.endpoints.address import path_of, place_of, reach_of


@pytest.mark.parametrize(
    ("typed", "origin", "path"),
    [
        ("localhost:11434", "http://localhost:11434", None),
        ("127.0.0.1:1/", "http://127.0.0.1:1", None),
        (" https://api.groq.com/openai/v1/ ", "https://api.groq.com", "/openai/v1"),
        ("192.168.1.5:8000/v1/chat/completions", "http://192.168.1.5:8000", "/v1"),
        ("http://gpu-box:8000/v1/models", "http://gpu-box:8000", "/v1"),
        ("api.example.com", "https://api.example.com", None),
        ("[::1]:8000/v3", "http://[::1]:8000", "/v3"),
        ("HTTPS://Example.COM:443/V1", "https://example.com", "/V1"),
    ],
)
def test_an_address_is_made_whole(typed, origin, path):
    place, found = place_of(typed)
    assert (str(place), found) == (origin, path)


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "x y", "ftp://a", "http://", "0.0.0.0:8000", "[::]:1", "http://a/..", "http://a/v1?x=1", "http://a/v1#x",
     "http://a:99999", "http://a/\u202e", "http://a/v1\r\nX: y", "a" * 3000, "http://a/%2e%2e"],
)  # fmt: skip
def test_what_is_no_address(typed):
    with pytest.raises(Refused) as caught:
        place_of(typed)
    assert caught.value.code == "endpoint.address"


def test_a_password_in_an_address_is_refused_and_not_shown():
    with pytest.raises(Refused) as caught:
        place_of("http://user:secret@example.com/v1")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "reach"),
    [
        ("localhost", Reach.HERE),
        ("me.localhost", Reach.HERE),
        ("127.8.9.1", Reach.HERE),
        ("::1", Reach.HERE),
        ("::ffff:127.0.0.1", Reach.HERE),
        ("10.1.2.3", Reach.NETWORK),
        ("172.31.0.1", Reach.NETWORK),
        ("192.168.0.9", Reach.NETWORK),
        ("100.64.1.1", Reach.NETWORK),
        ("fd00::1", Reach.NETWORK),
        ("::ffff:10.0.0.1", Reach.NETWORK),
        ("gpu-box", Reach.NETWORK),
        ("box.local", Reach.NETWORK),
        ("172.32.0.1", Reach.INTERNET),
        ("8.8.8.8", Reach.INTERNET),
        ("2001:db8::1", Reach.INTERNET),
        ("api.groq.com", Reach.INTERNET),
        ("127.0.0.1.example.com", Reach.INTERNET),
        ("notlocalhost.com", Reach.INTERNET),
    ],
)
def test_how_far_it_goes(host, reach):
    assert reach_of(host) is reach


@pytest.mark.parametrize(
    ("typed", "path"), [("", ""), ("/", ""), ("v1", "/v1"), ("/v1/", "/v1"), ("/inference/v1/models", "/inference/v1")]
)
def test_what_stands_before_the_routes(typed, path):
    assert path_of(typed) == path
