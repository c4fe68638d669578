"""The Hub as the program asks it, against a Hub of our own that can go wrong."""

import threading

import pytest
from tests.fake_hub import (
    Cut,
    Expired,
    FakeHub,
    IgnoreRange,
    Portal,
    RateLimited,
    Redirect,
    Reset,
    ShortBody,
    Stall,
    Status,
    WrongRange,
    git_sha1,
    sha256,
)
from tests.fake_hub.content import Held

from weighbridge.base.errors import Cancelled, Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub import client, streaming
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.remote import Located, RemoteFile
from weighbridge.hub.token import Token

TOKEN = "hf_TESTTOKEN"
BIG = bytes(range(256)) * 4000
SMALL = b'{"a": 1}'
FILES = {"m.gguf": BIG, "config.json": SMALL, "sub/README.md": b"# Sub", "empty.txt": b""}


@pytest.fixture
def fake():
    with FakeHub() as made:
        made.tokens[TOKEN] = "ada"
        made.add("o/r", FILES, tags=("gguf",))
        yield made


class Asking:
    """The program's Hub over a fake one, and what the user has set."""

    def __init__(self, fake, **options):
        self.token, self.offline, self.endpoint = TOKEN, False, fake.endpoint
        self.log = NetworkLog()
        access = Access(
            lambda: self.endpoint, lambda: Token(self.token, "file") if self.token else None, lambda: self.offline
        )
        self.hub = Hub(access, self.log, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hub.close()


@pytest.fixture
def asking(fake):
    with Asking(fake) as made:
        yield made


@pytest.fixture
def hub(asking):
    return asking.hub


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(client, "STALL_S", 0.2)


def located(hub, path="m.gguf"):
    return hub.locate("o/r", hub.repository("o/r").commit, path)


def read(hub, place, start=0):
    with hub.open(place, start) as opened:
        return opened.start, b"".join(opened.pieces())


def unreachable(call, *arguments):
    with pytest.raises(Unreachable) as caught:
        call(*arguments)
    return caught.value


def refused(call, *arguments):
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value


def test_a_repository_at_its_commit(fake, hub):
    found = hub.repository("o/r")
    assert (found.id, found.revision, found.gated, found.tags) == ("o/r", "main", False, ("gguf",))
    assert found.commit == fake.repos["o/r"].branches["main"].sha
    assert {file.path: file for file in found.files} == {
        "m.gguf": RemoteFile("m.gguf", len(BIG), sha256=sha256(Held(BIG))),
        "config.json": RemoteFile("config.json", 8, git_sha1=git_sha1(Held(SMALL))),
        "sub/README.md": RemoteFile("sub/README.md", 5, git_sha1=git_sha1(Held(b"# Sub"))),
        "empty.txt": RemoteFile("empty.txt", 0, git_sha1="e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
    }
    assert all(found.commit in request.path for request in fake.asked(path="/api/models/o/r/tree"))


def test_all_pages_and_all_branches(fake, hub):
    fake.files_per_page = 3
    fake.add("o/many", {f"{n:02}.json": b"{}" for n in range(10)}, branch="4.0bpw")
    assert hub.branches("o/many") == ("main", "4.0bpw")
    found = hub.repository("o/many", "4.0bpw")
    assert found.revision == "4.0bpw"
    assert [file.path for file in found.files if file.path.endswith("json")] == [f"{n:02}.json" for n in range(10)]
    assert len(fake.asked(path="/api/models/o/many/tree")) == 4


def test_a_repository_that_was_renamed(fake, hub):
    fake.rename("o/r", "p/new")
    assert hub.repository("o/r").id == "p/new"


def test_a_listing_can_be_cancelled(hub):
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        hub.repository("o/r", "main", task)


def test_a_large_file_and_a_small_one(fake, hub):
    place = located(hub)
    assert (place.etag, place.size_bytes) == (sha256(Held(BIG)), len(BIG))
    assert place.url.startswith(fake.cdn)
    assert read(hub, place) == (0, BIG)
    assert read(hub, place, 1000) == (1000, BIG[1000:])
    little = located(hub, "config.json")
    assert (little.etag, little.size_bytes) == (git_sha1(Held(SMALL)), 8)
    assert read(hub, little) == (0, SMALL)
    assert {request.headers["accept-encoding"] for request in fake.requests} == {"identity"}


def test_the_first_bytes_and_the_card(fake, hub):
    commit = hub.repository("o/r").commit
    assert hub.small("o/r", commit, "m.gguf", 8192) == BIG[:8192]
    assert hub.small("o/r", commit, "config.json", 8192) == SMALL
    assert hub.small("o/r", commit, "empty.txt", 10) == b""
    assert hub.readme("o/r", commit) is None
    fake.repos["o/r"].commit({"README.md": "# Ñ"})
    assert hub.readme("o/r", hub.repository("o/r").commit) == "# Ñ"
    fake.faults.next(IgnoreRange(), "m.gguf")
    assert hub.small("o/r", commit, "m.gguf", 8192) == BIG[:8192]


def test_the_token_goes_to_the_hub_alone(fake, asking):
    read(asking.hub, located(asking.hub))
    assert asking.hub.user() == "ada"
    assert {request.token for request in fake.asked(server="hub")} == {TOKEN}
    assert {request.token for request in fake.asked(server="cdn")} == {None}
    assert len(fake.asked(server="cdn")) == 1


def test_the_token_does_not_follow_a_redirect_or_a_next_page(fake, asking):
    fake.faults.next(Redirect(f"{fake.cdn}/elsewhere"), "/api/models/o/r", on="api")
    assert refused(asking.hub.repository, "o/r").code == "hub.led_away"
    fake.faults.next(Redirect(f"{fake.cdn}/elsewhere"), on="bytes")
    unreachable(read, asking.hub, located(asking.hub))
    assert {request.token for request in fake.asked(server="cdn")} == {None}


def test_without_a_token(fake, asking):
    asking.token = "hf_WRONG"
    assert refused(asking.hub.repository, "o/r").code == "hub.token"
    nobody = asking.hub.without_token()
    assert nobody.repository("o/r").id == "o/r"
    nobody.close()
    assert [request.token for request in fake.requests] == ["hf_WRONG", None, None]
    assert len(asking.log.requests) == 3


def test_refusals_say_what_was_asked_for(fake, asking, hub):
    fake.add("o/gated", FILES, gated="auto")
    commit = hub.repository("o/gated").commit
    assert hub.repository("o/gated").gated
    gated = refused(hub.locate, "o/gated", commit, "m.gguf")
    assert (gated.code, gated.values["page"]) == ("hub.gated", "https://huggingface.co/o/gated")
    assert refused(hub.repository, "o/none").code == "hub.private"
    assert refused(hub.branches, "o/none").values["repo_id"] == "o/none"
    revision = refused(hub.repository, "o/r", "gone")
    assert (revision.code, revision.values["revision"]) == ("hub.no_revision", "gone")
    path = refused(hub.locate, "o/r", "main", "none.gguf")
    assert (path.code, path.values["path"]) == ("hub.no_file", "none.gguf")
    asking.token = None
    assert refused(hub.locate, "o/gated", commit, "m.gguf").code == "hub.gated_sign_in"
    asking.token = "hf_wrong"
    assert refused(hub.user).code == "hub.token"


@pytest.mark.parametrize(
    ("repo_id", "revision", "path"),
    [
        ("..", "main", "x"),
        ("a/..", "main", "x"),
        ("./a", "main", "x"),
        ("a", "main", "x"),
        ("a/b/c", "main", "x"),
        ("a/b?x=1", "main", "x"),
        ("a/b", "../../api/whoami-v2", "x"),
        ("a/b", "", "x"),
        ("a/b", "main\n", "x"),
        ("a/b", "main", "../x"),
        ("a/b", "main", "/x"),
        ("a/b", "main", "a//x"),
    ],
)
def test_bad_names_are_not_sent(fake, hub, repo_id, revision, path):
    assert refused(hub.locate, repo_id, revision, path).code == "hub.bad_name"
    assert fake.requests == []


def test_offline_nothing_is_sent(fake, asking):
    place = located(asking.hub)
    before = len(fake.requests), len(asking.log.requests)
    asking.offline = True
    for call in (lambda: asking.hub.repository("o/r"), lambda: read(asking.hub, place), asking.hub.user):
        assert refused(call).code == "hub.offline"
    assert (len(fake.requests), len(asking.log.requests)) == before
    asking.offline = False
    assert asking.hub.repository("o/r").id == "o/r"


def test_the_log_says_all_and_no_secret(fake, asking):
    read(asking.hub, located(asking.hub))
    asking.hub.branches("o/r")
    cdn, api = (address.removeprefix("http://") for address in (fake.cdn, fake.endpoint))
    said = [(each.host, each.purpose, each.method, each.status, each.error) for each in asking.log.requests]
    assert said == [
        (api, "repository", "GET", 200, None),
        (api, "repository", "GET", 200, None),
        (api, "file", "HEAD", 302, None),
        (cdn, "file", "GET", 200, None),
        (api, "branches", "GET", 200, None),
    ]
    assert asking.log.requests[3].received_bytes == len(BIG)
    assert TOKEN not in repr(asking.log.requests)
    assert "Signature" not in repr(asking.log.requests)


def test_nobody_logs_the_token(fake, asking, caplog):
    caplog.set_level(0)
    fake.faults.next(Cut(10))
    unreachable(read, asking.hub, located(asking.hub))
    asking.hub.user()
    asking.token = "hf_WRONGTOKEN"
    refused(asking.hub.repository, "o/r")
    assert len(caplog.records) > 10
    assert TOKEN not in caplog.text
    assert "hf_WRONGTOKEN" not in caplog.text


def test_a_range_that_is_ignored_starts_at_zero(fake, hub):
    fake.faults.next(IgnoreRange())
    assert read(hub, located(hub), 1000) == (0, BIG)


def test_a_range_that_starts_elsewhere_is_not_taken(fake, hub):
    fake.faults.next(WrongRange(500))
    error = unreachable(read, hub, located(hub), 1000)
    assert (error.code, error.values["reason"]) == ("hub.server", "Content-Range")


def test_a_body_of_another_length_is_not_taken(fake, hub):
    place = located(hub)
    other = Located(place.url, place.etag, place.size_bytes + 1, place.commit)
    assert unreachable(read, hub, other).values["reason"] == "Content-Length"
    assert unreachable(read, hub, other, 1000).values["reason"] == "Content-Range"
    fake.faults.next(ShortBody(100))
    assert unreachable(read, hub, place).values["reason"] == "Content-Length"


@pytest.mark.parametrize("fault", [Cut(100_000), Reset(100_000)])
def test_what_came_before_a_break_is_handed_on(fake, hub, fault):
    fake.faults.next(fault)
    came = bytearray()
    with hub.open(located(hub), 0) as opened, pytest.raises(Unreachable) as caught:
        for piece in opened.pieces():
            came += piece
    assert caught.value.code == "hub.unreachable"
    assert BIG.startswith(bytes(came))
    if isinstance(fault, Cut):
        assert len(came) == 100_000


@pytest.mark.parametrize("after", [0, 100_000])
def test_a_stall_is_told(fake, asking, impatient, after):
    fake.faults.next(Stall(after))
    assert unreachable(read, asking.hub, located(asking.hub)).code == "hub.stalled"
    assert (asking.log.requests[-1].error, asking.log.requests[-1].received_bytes) == ("hub.stalled", after)


@pytest.mark.parametrize("tls", [False, True])
def test_hanging_up_ends_a_read_that_waits(tls):
    with FakeHub(tls=tls) as fake, Asking(fake, tls=fake.trust() if tls else None) as asking:
        fake.tokens[TOKEN] = "ada"
        fake.add("o/r", FILES)
        fake.faults.next(Stall(600_000))
        came = threading.Event()
        with asking.hub.open(located(asking.hub), 0) as opened:
            ending = threading.Thread(target=lambda: (came.wait(), opened.hang_up()))
            ending.start()
            with pytest.raises(Unreachable) as caught:
                for _ in opened.pieces():
                    came.set()
            ending.join()
            opened.hang_up()
        assert caught.value.values["reason"] == "hung up"
        assert asking.hub.repository("o/r").id == "o/r"


def test_hanging_up_afterwards_leaves_the_next_alone(hub):
    place = located(hub)
    with hub.open(place, 0) as opened:
        assert b"".join(opened.pieces()) == BIG
    with hub.open(place, 0) as following:
        opened.hang_up()
        assert b"".join(following.pieces()) == BIG


def test_pieces_come_in_time_on_a_slow_line(fake, hub, monkeypatch):
    monkeypatch.setattr(streaming, "PIECE_S", 0.0)
    with hub.open(located(hub), 0) as opened:
        pieces = list(opened.pieces())
    assert b"".join(pieces) == BIG
    assert max(map(len, pieces)) < streaming.PIECE_BYTES


def test_an_expired_address(fake, hub):
    place = located(hub)
    fake.expire_addresses()
    assert unreachable(read, hub, place).code == "hub.expired"
    fake.faults.next(Expired())
    assert unreachable(read, hub, located(hub)).code == "hub.expired"


def test_a_rate_limit_says_how_long_and_is_not_waited_for(fake, hub):
    for fault_on in ("api", "resolve", "bytes"):
        fake.faults.next(RateLimited(33), on=fault_on)
    for call in (lambda: hub.repository("o/r"), lambda: located(hub), lambda: read(hub, located(hub))):
        error = unreachable(call)
        assert (error.code, error.values["seconds"]) == ("hub.rate_limit", 33)
    assert fake.faults.left == 0


def test_a_server_that_fails_is_asked_once(fake, hub):
    for on in ("api", "resolve", "bytes"):
        fake.faults.next(Status(503), on=on)
    for call in (lambda: hub.repository("o/r"), lambda: located(hub), lambda: read(hub, located(hub))):
        assert unreachable(call).code == "hub.server"
    assert fake.faults.left == 0


def test_a_portal_is_named(fake, hub):
    for on in ("api", "resolve", "bytes"):
        fake.faults.next(Portal(), on=on)
    for call in (lambda: hub.repository("o/r"), lambda: located(hub), lambda: read(hub, located(hub))):
        error = unreachable(call)
        assert (error.code, error.values["host"]) == ("hub.portal", "127.0.0.1")


def test_a_hub_that_is_not_there(asking):
    asking.endpoint = "http://127.0.0.1:9"
    assert unreachable(asking.hub.repository, "o/r").code == "hub.unreachable"
    (request,) = asking.log.requests
    assert (request.host, request.status, request.error) == ("127.0.0.1:9", None, "hub.unreachable")


def test_a_hub_that_leads_in_circles(fake, hub):
    fake.faults.always(Redirect(f"{fake.endpoint}/api/models/o/r"), "/api/models/o/r", on="api")
    error = unreachable(hub.repository, "o/r")
    assert (error.code, error.values["reason"]) == ("hub.server", "redirects")


@pytest.mark.parametrize(
    "told",
    [{"sha256": "../../x"}, {"sha256": "A" * 64}, {"sha256": "a" * 63}, {"sha256": "a" * 65}, {"size": -1}],
)
def test_a_hash_that_is_none_is_not_taken(fake, hub, told):
    fake.repos["o/r"].claim("m.gguf", **told)
    error = unreachable(hub.repository, "o/r")
    assert (error.code, error.values["name"]) == ("hub.bad_entry", "m.gguf")


@pytest.mark.parametrize("to", ["http://192.168.1.1/x", "http://169.254.169.254/latest", "https://elsewhere.example/"])
def test_a_hub_that_leads_away_is_told_as_such_and_nobody_else_is_asked(fake, asking, to):
    fake.faults.next(Redirect(to), "/api/models/o/r", on="api")
    error = refused(asking.hub.repository, "o/r")
    assert error.code == "hub.led_away"
    assert error.values == {"host": "127.0.0.1", "to": to.split("/")[2]}
    assert len(asking.log.requests) == 1
    assert asking.hub.repository("o/r").id == "o/r"


def test_a_certificate_that_nobody_vouches_for():
    with FakeHub(tls=True) as fake, Asking(fake) as asking:
        assert unreachable(asking.hub.repository, "o/r").code == "hub.certificate"


def test_the_library_asks_for_nothing_by_itself(fake, hub):
    from huggingface_hub import HfApi

    hub.repository("o/r")
    before = len(fake.requests)
    with pytest.raises(Refused) as caught:
        HfApi(fake.endpoint).model_info("o/r")
    assert caught.value.code == "hub.unasked"
    assert len(fake.requests) == before
