"""Each fault does what it says, once, and where it was planned."""

import threading
import time

import httpx2
import pytest
from tests.fake_hub import (
    Corrupt,
    Cut,
    Expired,
    FakeHub,
    IgnoreRange,
    Made,
    Portal,
    RateLimited,
    Redirect,
    Reset,
    ShortBody,
    Slow,
    Stall,
    Status,
    Told,
    WrongRange,
)
from tests.fake_hub.content import read

SIZE = 300_000
BIG = Made(SIZE, seed=1)
REPO, BIG_FILE = "tiny/Some-GGUF", "big.gguf"


@pytest.fixture
def hub():
    with FakeHub() as made:
        made.add(REPO, {BIG_FILE: BIG})
        yield made


@pytest.fixture
def client():
    with httpx2.Client(follow_redirects=True, timeout=5) as made:
        yield made


def place(hub):
    return f"{hub.endpoint}/{REPO}/resolve/main/{BIG_FILE}"


def located(hub, client):
    return client.head(place(hub), follow_redirects=False)


def address(hub, client):
    return located(hub, client).headers["Location"]


def received(client, url, **headers):
    """The status and the bytes of an answer, as far as they came, and what ended it early."""
    body = bytearray()
    try:
        with client.stream("GET", url, headers=headers) as answer:
            for piece in answer.iter_raw():
                body += piece
    except httpx2.HTTPError as error:
        return answer, bytes(body), type(error)
    return answer, bytes(body), None


@pytest.mark.parametrize(
    ("fault", "error"), [(Cut(100_000), httpx2.RemoteProtocolError), (Reset(100_000), httpx2.ReadError)]
)
def test_a_connection_that_ends_too_early(hub, client, fault, error):
    url = address(hub, client)
    hub.faults.next(fault, BIG_FILE)
    _, body, ended = received(client, url)
    assert ended is error
    assert body == read(BIG)[: len(body)]
    assert hub.requests[-1].sent == 100_000
    assert hub.faults.left == 0
    assert received(client, url)[1:] == (read(BIG), None)


@pytest.mark.parametrize("fault", [Cut(-1), Reset(-1)])
def test_a_connection_that_ends_before_its_headers(hub, client, fault):
    hub.faults.next(fault, BIG_FILE, on="resolve")
    with pytest.raises((httpx2.RemoteProtocolError, httpx2.ReadError)):
        client.head(place(hub), follow_redirects=False)
    assert client.get(place(hub)).content == read(BIG)


def test_a_stall_goes_on_after_its_time(hub, client):
    hub.faults.next(Stall(after=1000, seconds=0.2), BIG_FILE)
    begun = time.monotonic()
    assert received(client, place(hub))[1:] == (read(BIG), None)
    assert time.monotonic() - begun >= 0.2


def test_a_stall_without_end_ends_with_the_hub():
    with FakeHub() as hub, httpx2.Client(timeout=0.2) as client:
        hub.add(REPO, {"c.json": "{}"})
        hub.faults.always(Stall(after=-1))
        with pytest.raises(httpx2.ReadTimeout):
            client.get(f"{hub.endpoint}/api/resolve-cache/models/{REPO}/main/c.json")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fake")]


def test_a_status_and_a_portal(hub, client):
    url = address(hub, client)
    hub.faults.next(Status(503), times=2)
    hub.faults.next(Portal())
    assert [client.get(url).status_code for _ in range(2)] == [503, 503]
    portal = client.get(url)
    assert (portal.status_code, portal.headers["Content-Type"]) == (200, "text/html")
    assert client.get(url).content == read(BIG)


def test_other_json_than_the_answers_keeps_its_headers(hub, client):
    hub.add("tiny/Another", {"x": b"x"})
    hub.models_per_page = 1
    hub.faults.next(Told([{"id": 7}]), "/api/models", on="api")
    hub.faults.next(Told(text="{"), "/api/models", on="api")
    first, second = (client.get(f"{hub.endpoint}/api/models") for _ in range(2))
    assert (first.json(), second.text) == ([{"id": 7}], "{")
    assert "Link" in first.headers


def test_a_short_body_is_in_good_order(hub, client):
    hub.faults.next(ShortBody(50))
    answer, body, ended = received(client, place(hub), Range="bytes=10-")
    assert (answer.headers["Content-Range"], body, ended) == (f"bytes 10-59/{SIZE}", read(BIG)[10:60], None)


def test_ranges_that_are_ignored_or_wrong(hub, client):
    hub.faults.next(IgnoreRange())
    hub.faults.next(WrongRange(3))
    assert received(client, place(hub))[0].status_code == 200
    ignored = received(client, place(hub), Range="bytes=10-")
    assert (ignored[0].status_code, ignored[1]) == (200, read(BIG))
    wrong = received(client, place(hub), Range="bytes=10-")
    assert (wrong[0].headers["Content-Range"], wrong[1]) == (f"bytes 3-{SIZE - 1}/{SIZE}", read(BIG)[3:])


def test_one_corrupted_byte(hub, client):
    hub.faults.next(Corrupt(at=200))
    assert received(client, place(hub), Range="bytes=201-")[1] == read(BIG)[201:]
    body = received(client, place(hub))[1]
    assert [at for at, byte in enumerate(read(BIG)) if body[at] != byte] == [200]


def test_expired_rate_limited_and_sent_elsewhere(hub, client):
    url = address(hub, client)
    hub.faults.next(Expired())
    hub.faults.next(RateLimited(7))
    hub.faults.next(Redirect("http://127.0.0.1:9/inside"))
    assert client.get(url).status_code == 403
    limited = client.get(url)
    assert (limited.status_code, limited.headers["RateLimit"]) == (429, '"resolvers";r=0;t=7')
    sent_on = client.get(url, follow_redirects=False)
    assert (sent_on.status_code, sent_on.headers["Location"]) == (302, "http://127.0.0.1:9/inside")
    hub.faults.next(Redirect("http://127.0.0.1:9/inside"), on="resolve")
    assert (address(hub, client), hub.faults.left) == ("http://127.0.0.1:9/inside", 0)


def test_slow(hub, client):
    hub.faults.next(Slow(SIZE * 4))
    begun = time.monotonic()
    assert received(client, place(hub))[1:] == (read(BIG), None)
    assert time.monotonic() - begun >= 0.25


def test_a_fault_is_for_its_path_and_its_kind_alone(hub, client):
    hub.faults.next(Status(500), "other.gguf")
    hub.faults.next(Status(502), "/api/models", on="api")
    assert located(hub, client).status_code == 302
    assert client.get(place(hub)).status_code == 200
    assert client.get(f"{hub.endpoint}/api/models/{REPO}").status_code == 502
    assert hub.faults.left == 1


def test_faults_by_chance_are_the_same_for_the_same_seed(hub, client):
    def statuses():
        hub.faults.random(5, 0.5, [Status, Expired, ShortBody])
        return [(client.get(url).status_code, hub.requests[-1].sent) for _ in range(12)]

    url = address(hub, client)
    first = statuses()
    assert len(set(first)) > 2
    assert statuses() == first
    hub.faults.clear()
    assert {client.get(url).status_code for _ in range(12)} == {200}
    hub.faults.random(5, 1.0, [Status], on={"api"})
    assert client.get(url).status_code == 200
    assert client.get(f"{hub.endpoint}/api/models").status_code >= 500


def test_every_kind_can_be_drawn(hub, client):
    kinds = [Corrupt, Cut, Expired, IgnoreRange, Portal, RateLimited, Redirect, Reset, ShortBody, Stall, Status]
    with httpx2.Client(timeout=5) as plain:
        for kind in kinds:
            hub.faults.random(1, 1.0, [kind])
            received(plain, address(hub, client), Range="bytes=9-")
            assert isinstance(hub.requests[-1].fault, kind)


def test_the_network_goes_away_and_comes_back(hub, client):
    assert client.get(place(hub)).status_code == 200
    with hub.away(), pytest.raises(httpx2.TransportError):
        client.get(place(hub))
    assert client.get(place(hub)).status_code == 200
