import pytest
from tests.fake_hub import FakeHub, Headers, RateLimited

from weighbridge.base.errors import Unreachable
from weighbridge.hub.access import Access
from weighbridge.hub.allowance import API, FILES, Allowance, Allowances, may_spend
from weighbridge.hub.client import Hub
from weighbridge.hub.network import NetworkLog


class Clock:
    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def allowances(clock):
    return Allowances(clock)


@pytest.fixture
def fake():
    with FakeHub() as made:
        made.add("o/r", {"m.gguf": bytes(50_000)})
        yield made


@pytest.fixture
def hub(fake):
    made = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: False), NetworkLog())
    yield made
    made.close()


def test_what_an_answer_tells(allowances, clock):
    assert (allowances.of(), allowances.wait_s()) == (None, 0.0)
    allowances.hear({"ratelimit": '"api";r=489;t=240', "ratelimit-policy": '"fixed window";"api";q=500;w=300'})
    assert allowances.of() == Allowance(API, 489, 1240.0, 500)
    assert allowances.of(FILES) is None
    allowances.hear({"ratelimit": '"resolvers" ; r=0 ; t=10'})
    assert allowances.of(FILES) == Allowance(FILES, 0, 1010.0, None)
    assert (allowances.wait_s(FILES), allowances.wait_s()) == (10.0, 0.0)
    clock.now_s = 1004.0
    assert allowances.wait_s(FILES) == 6.0
    clock.now_s = 1010.0
    assert (allowances.of(FILES), allowances.wait_s(FILES)) == (None, 0.0)
    assert allowances.of() == Allowance(API, 489, 1240.0, 500)


@pytest.mark.parametrize(
    "told",
    [
        "",
        "api;r=1;t=1",
        '"api";r=-1;t=1',
        '"api";r=x;t=1',
        f'"api";r={"9" * 5000};t=1',
        f'"api";r=1;t={"9" * 10}',
        '"ap' + "i" * 50 + '";r=1;t=1',
    ],
)
def test_what_makes_no_sense_changes_nothing(allowances, told):
    allowances.hear({"ratelimit": '"api";r=7;t=60'})
    allowances.hear({"ratelimit": told})
    assert allowances.of() == Allowance(API, 7, 1060.0)


def test_a_time_without_end_ends(allowances):
    allowances.hear({"ratelimit": '"api";r=0;t=999999999'})
    assert allowances.wait_s() == 3600.0


@pytest.mark.parametrize(
    ("remaining", "calls", "reserve", "may"),
    [(10, 10, 0, True), (10, 11, 0, False), (10, 8, 2, True), (10, 9, 2, False), (0, 0, 0, True), (0, 1, 0, False)],
)
def test_a_reserve_is_left(remaining, calls, reserve, may):
    assert may_spend(Allowance(API, remaining, 0.0), calls, reserve) is may


def test_what_is_not_known_forbids_nothing():
    assert may_spend(None, 1000, 1000)


def test_the_hub_tells_with_each_answer(fake, hub):
    fake.limits[API], fake.limits[FILES] = 500, 3000
    commit = hub.repository("o/r").commit
    told = hub.allowances.of()
    assert (told.kind, told.remaining, told.limit) == (API, 498, 500)
    assert hub.allowances.of(FILES) is None
    hub.small("o/r", commit, "m.gguf", 10)
    assert hub.allowances.of(FILES).remaining == 2999
    assert hub.allowances.of().remaining == 498


def test_a_refusal_tells_how_long(fake, hub):
    fake.faults.next(RateLimited(42, API), "/api/models", on="api")
    with pytest.raises(Unreachable) as caught:
        hub.repository("o/r")
    assert (caught.value.code, caught.value.values["seconds"]) == ("hub.rate_limit", 42)
    assert hub.allowances.of().remaining == 0
    assert 41.0 < hub.allowances.wait_s() <= 42.0


def test_where_the_hub_leads_to_tells_nothing(fake, hub):
    fake.faults.next(Headers({"RateLimit": '"api";r=3;t=9'}), "m.gguf")
    hub.small("o/r", hub.repository("o/r").commit, "m.gguf", 10)
    assert fake.faults.left == 0
    assert hub.allowances.of() is None


def test_somebody_else_has_an_allowance_of_his_own(fake, hub):
    fake.limits[API] = 500
    hub.repository("o/r")
    nobody = hub.without_token()
    assert nobody.allowances.of() is None
    nobody.close()
