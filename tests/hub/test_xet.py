"""Bytes in Xet's way, out of a storage in a folder."""

import socket
import threading
from dataclasses import replace

import pytest
from tests.fake_hub import FakeHub

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.hub import xet
from weighbridge.hub.access import Access
from weighbridge.hub.addresses import Origin
from weighbridge.hub.client import Hub
from weighbridge.hub.environment import prepare
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.token import Token

BIG = bytes(range(256)) * 8000
HUB = Origin("https", "huggingface.co", 443)


@pytest.fixture(autouse=True)
def prepared(monkeypatch):
    told = {}
    prepare(told)
    for name, value in told.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def fake():
    with FakeHub() as made:
        made.tokens["hf_x"] = "ada"
        made.add("o/r", {"m.gguf": BIG, "config.json": b"{}"}, xet=True)
        yield made


@pytest.fixture
def log():
    return NetworkLog()


@pytest.fixture
def hub(fake, log):
    made = Hub(Access(lambda: fake.endpoint, lambda: Token("hf_x", "file"), lambda: False, lambda: "always"), log)
    yield made
    made.close()


@pytest.fixture
def place(hub):
    return hub.locate("o/r", hub.repository("o/r").commit, "m.gguf")


def read(hub, place, start=0):
    with hub.open(place, start) as opened:
        return opened.start, b"".join(opened.pieces())


def test_whole_and_from_the_middle(fake, hub, place, log, monkeypatch):
    monkeypatch.setattr(xet, "RANGE_BYTES", 300_000)
    assert read(hub, place) == (0, BIG)
    assert read(hub, place, 1_234_567) == (1_234_567, BIG[1_234_567:])
    assert read(hub, place, len(BIG)) == (len(BIG), b"")
    assert fake.asked(server="cdn") == []
    line = log.requests[-3]
    assert (line.host, line.method, line.received_bytes, line.error) == ("local:", "XET", len(BIG), None)


def test_the_token_of_the_storage_does_not_show(place):
    assert place.xet.token == "xet-token"
    assert "xet-token" not in repr(place)


def test_small_files_and_settings(fake, hub, log):
    commit = hub.repository("o/r").commit
    assert hub.locate("o/r", commit, "config.json").xet is None
    for setting in ("never", "large"):
        other = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: False, lambda said=setting: said), log)
        assert other.locate("o/r", commit, "m.gguf").xet is None
        other.close()


@pytest.mark.parametrize(
    ("setting", "size", "wanted"),
    [
        ("large", 50_000_000_000, False),
        ("large", 50_000_000_001, True),
        ("always", 1, True),
        ("never", 10**12, False),
    ],
)
def test_which_files_go_that_way(setting, size, wanted):
    assert xet.wanted(setting, size) is wanted


def test_hanging_up_ends_it(hub, place, log, monkeypatch):
    monkeypatch.setattr(xet, "RANGE_BYTES", 300_000)
    with hub.open(place, 0) as opened:
        pieces = opened.pieces()
        came = next(pieces)
        ending = threading.Thread(target=opened.hang_up)
        ending.start()
        ending.join()
        with pytest.raises(Unreachable) as caught:
            for piece in pieces:
                came += piece
    assert caught.value.values["reason"] == "hung up"
    assert BIG.startswith(came)
    assert len(came) < len(BIG)
    assert log.requests[-1].error == "hub.unreachable"
    assert read(hub, place) == (0, BIG)


def test_hanging_up_ends_a_wait_for_a_storage_that_says_nothing(hub, place, log):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        waiting = replace(place, xet=replace(place.xet, address=address))
        with hub.open(waiting, 0) as opened:

            def end():
                wire, _ = silent.accept()
                with wire:
                    wire.recv(10)
                    opened.hang_up()

            ending = threading.Thread(target=end)
            ending.start()
            with pytest.raises(Unreachable) as caught:
                list(opened.pieces())
            ending.join()
    assert caught.value.values["reason"] == "hung up"
    assert log.requests[-1].host == "127.0.0.1"


def test_bytes_that_nobody_takes_are_not_waited_for(hub, place, log):
    with hub.open(place, 0) as opened:
        pieces = opened.pieces()
        first = next(pieces)
        pieces.close()
    assert BIG.startswith(first)
    assert log.requests[-1].received_bytes == len(first) < len(BIG)


def test_what_the_storage_does_not_have(hub, place, log):
    gone = replace(place, xet=replace(place.xet, hash="0" * 63 + "1"))
    with pytest.raises(Unreachable) as caught:
        read(hub, gone)
    assert caught.value.code == "hub.unreachable"
    assert log.requests[-1].error == "hub.unreachable"


def test_what_hf_xet_says_is_told_without_signatures(log):
    line = log.begin("h", "file", "XET")
    error = xet.told(RuntimeError("GET https://s3.example/x?X-Amz-Signature=abc failed"), "h", line)
    assert error.values["reason"] == "GET https://s3.example/x failed"


def test_offline(fake, place, log):
    off = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: True), log)
    with pytest.raises(Refused) as caught:
        read(off, place)
    off.close()
    assert caught.value.code == "hub.offline"


@pytest.mark.parametrize("address", ["local:///etc", "http://cas.example", "https://10.0.0.1", "https://127.0.0.1"])
def test_storages_that_the_hub_must_not_lead_to(address):
    with pytest.raises(Refused) as caught:
        xet.require_storage(address, HUB)
    assert caught.value.code == "hub.address"


def test_a_storage():
    assert xet.require_storage("https://cas-server.xethub.hf.co", HUB) == "cas-server.xethub.hf.co"


def test_its_telemetry_is_off_and_its_buffers_are_small():
    import hf_xet

    config = dict(hf_xet.XetConfig().items())
    assert config["telemetry.enabled"] is False
    assert config["reconstruction.download_buffer_limit"] == 64_000_000
    assert config["client.read_timeout"].total_seconds() == 10
