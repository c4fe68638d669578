"""Bytes in Xet's way, out of a storage in a folder."""

import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.fake_hub import FakeHub
from tests.fake_hub.xet_http import XetHttp

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.hub import client, xet
from weighbridge.hub.access import Access
from weighbridge.hub.addresses import Origin
from weighbridge.hub.client import Hub
from weighbridge.hub.environment import prepare
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.token import Token

BIG = Random(1).randbytes(2_048_000)
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
    place = Origin("https", "cas-server.xethub.hf.co", 443)
    assert xet.require_storage("https://cas-server.xethub.hf.co", HUB) == place


@pytest.mark.parametrize("number", ["10.0.0.1", "169.254.169.254", "127.0.0.1", "fd00::1"])
def test_a_storage_whose_name_leads_to_a_private_address(place, log, number):
    asked = []

    def look_up(host, port):
        asked.append((host, port))
        return ["203.0.113.9", number]

    public = Access(lambda: "https://huggingface.co", lambda: None, lambda: False)
    hub = Hub(public, log, look_up=look_up)
    with pytest.raises(Refused) as caught:
        read(hub, replace(place, xet=replace(place.xet, address="https://cas.example")))
    hub.close()
    assert (caught.value.code, caught.value.values["reason"]) == ("hub.address", number)
    assert asked == [("cas.example", 443)]
    assert log.requests[-1].error == "hub.address"


def test_a_storage_whose_name_leads_nowhere(place, log):
    def look_up(host, port):
        raise OSError("no such name")

    hub = Hub(Access(lambda: "https://huggingface.co", lambda: None, lambda: False), log, look_up=look_up)
    with pytest.raises(Unreachable) as caught:
        read(hub, replace(place, xet=replace(place.xet, address="https://cas.example")))
    hub.close()
    assert caught.value.code == log.requests[-1].error == "hub.unreachable"


class Group:
    """Stands in for hf_xet's: gives `brings` of each range, then says nothing until it is aborted."""

    def __init__(self, brings):
        self.brings = brings
        self.asked = []
        self.aborted = threading.Event()

    def download_stream(self, info, start, end):
        self.asked.append((start, end))
        came = BIG[start : min(end, self.brings)]
        if came:
            yield came
        if len(came) < end - start:
            assert self.aborted.wait(30)
            raise RuntimeError("User cancelled")

    def abort(self):
        self.aborted.set()


def opened(group, place, log, first_s=0.05, next_s=0.05):
    line = log.begin("cas.example", "file", "XET")
    return xet.XetBytes(group, place, place.xet, 0, "cas.example", line, xet.Patience(first_s, next_s))


@pytest.mark.parametrize("brings", [0, 100_000, 1_000_000])
def test_a_stream_that_says_nothing_is_told_as_stalled_after_what_came(place, log, brings):
    came = b""
    group = Group(brings)
    with pytest.raises(Unreachable) as caught:
        for piece in opened(group, place, log).pieces():
            came += piece
    assert caught.value.code == "hub.stalled"
    assert came == BIG[:brings]
    assert group.aborted.is_set()
    assert log.requests[-1].error == "hub.stalled"
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("xet range")] == []


def test_while_it_stalls_a_hang_up_ends_it(place, log):
    group = Group(0)
    made = opened(group, place, log, 60, 60)
    ending = threading.Timer(0.1, made.hang_up)
    ending.start()
    with pytest.raises(Unreachable) as caught:
        list(made.pieces())
    ending.join()
    assert (caught.value.code, caught.value.values["reason"]) == ("hub.unreachable", "hung up")


def test_what_waits_for_the_one_who_takes_it_is_no_stall(place, log):
    group = Group(len(BIG))
    pieces = opened(group, place, log).pieces()
    came = next(pieces)
    time.sleep(0.2)
    assert came + b"".join(pieces) == BIG


def test_a_range_is_what_the_line_brings_in_a_moment():
    assert xet.asking(0) == xet.asking(200_000) == xet.Asking(xet.LEAST_BYTES, 1)
    assert xet.asking(1e6) == xet.Asking(500_000, 3)
    assert xet.asking(1e9) == xet.Asking(xet.RANGE_BYTES, xet.AHEAD)


@pytest.fixture
def stored(fake, place):
    with XetHttp(Path(fake.xet_address.removeprefix("local://"))) as storage:
        yield storage, replace(place, xet=replace(place.xet, address=storage.address))


def test_over_http_the_token_goes_to_the_storage_alone(hub, stored, log):
    storage, place = stored
    assert read(hub, place) == (0, BIG)
    told = {path.partition("?")[0].split("/")[1]: headers.get("authorization") for path, headers in storage.asked}
    assert told == {"v2": "Bearer xet-token", "v1": "Bearer xet-token", "xorb": None}
    assert log.requests[-1].error is None


def test_hf_xet_itself_is_told_as_stalled_and_left(hub, stored, log, monkeypatch):
    monkeypatch.setattr(client, "STALL_S", 0.3)
    monkeypatch.setattr(client, "CONNECT_S", 0.3)
    storage, place = stored
    storage.stall_after = 64 << 10
    came = b""
    with pytest.raises(Unreachable) as caught, hub.open(place, 0) as found:
        for piece in found.pieces():
            came += piece
    assert storage.stalled.is_set()
    assert caught.value.code == log.requests[-1].error == "hub.stalled"
    assert BIG.startswith(came)
    storage.stall_after = None
    assert read(hub, place, len(came)) == (len(came), BIG[len(came) :])


def test_a_slow_line_is_no_stall(hub, stored, monkeypatch):
    monkeypatch.setattr(client, "STALL_S", 1.0)
    storage, place = stored
    storage.step_s = 0.06  # a MB a second: in one range the file would take two
    assert read(hub, place) == (0, BIG)


def test_hanging_up_ends_a_wait_in_the_middle_of_an_answer(hub, stored, monkeypatch):
    monkeypatch.setenv("HF_XET_CLIENT_READ_TIMEOUT", "60s")
    storage, place = stored
    storage.stall_after = 64 << 10

    def read_on(found):
        with pytest.raises(Unreachable):
            list(found.pieces())

    with hub.open(place, 0) as found:
        reading = threading.Thread(target=read_on, args=(found,))
        reading.start()
        assert storage.stalled.wait(10)
        found.hang_up()
        reading.join(10)
        assert not reading.is_alive()
