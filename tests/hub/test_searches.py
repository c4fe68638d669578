import threading

import pytest
from tests.fake_hub import FakeHub, Status
from tests.fake_hub.searched import add_family

from weighbridge.base.errors import Cancelled, Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub import searches as module
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.hits import Hit, Query
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.searches import KEPT_S, Searches


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


class Made:
    """A Hub that counts, and can be held up."""

    def __init__(self):
        self.asked = []
        self.held = threading.Event()
        self.held.set()
        self.fault = None

    def search(self, query, most=100, task=None):
        self.asked.append((query.words, most))
        self.held.wait()
        if self.fault:
            raise self.fault
        return tuple(Hit(f"o/{number}") for number in range(min(most, 20)))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def hub():
    return Made()


@pytest.fixture
def searches(hub, clock):
    return Searches(hub, clock)


def test_typing_a_name_costs_one_call_and_again_none():
    with FakeHub() as fake:
        add_family(fake)
        offline = [False]
        hub = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: offline[0]), NetworkLog())
        searches = Searches(hub)
        first = searches.find(Query("qwen3"))
        assert (len(first), len(fake.requests)) == (7, 1)
        assert searches.find(Query("qwen3")) == first
        assert searches.find(Query(" Qwen3 "), task=Task()) == first
        assert len(fake.requests) == 1
        offline[0] = True
        assert searches.find(Query("qwen3")) == first
        with pytest.raises(Refused):
            searches.find(Query("phi"))
        assert len(fake.requests) == 1
        hub.close()


def test_after_some_minutes_it_is_asked_again(searches, hub, clock):
    searches.find(Query("a"))
    clock.now_s = KEPT_S - 1
    searches.find(Query("a"))
    assert len(hub.asked) == 1
    clock.now_s = KEPT_S
    searches.find(Query("a"))
    assert len(hub.asked) == 2


def test_another_query_is_another_answer(searches, hub):
    for query in (Query("a"), Query("b"), Query("a", format="gguf"), Query("a", author="o")):
        searches.find(query)
    assert len(hub.asked) == 4


def test_fewer_are_the_first_of_more(searches, hub):
    assert len(searches.find(Query("a"), 10)) == 10
    assert [hit.id for hit in searches.find(Query("a"), 2)] == ["o/0", "o/1"]
    assert len(searches.find(Query("a"), 15)) == 15
    assert hub.asked == [("a", 10), ("a", 15)]


def test_a_fault_is_not_kept(searches, hub):
    hub.fault = Unreachable("hub.server", host="h", reason="HTTP 503")
    with pytest.raises(Unreachable):
        searches.find(Query("a"))
    hub.fault = None
    assert searches.find(Query("a"))
    assert len(hub.asked) == 2


def test_what_is_forgotten_is_asked_again(searches, hub):
    searches.find(Query("a"))
    searches.forget()
    searches.find(Query("a"))
    assert len(hub.asked) == 2


def test_another_hub_or_another_user_is_told_anew(hub, clock):
    asker = ["https://one"]
    searches = Searches(hub, clock, lambda: asker[0])
    for asker[0], asked in (("https://one", 1), ("https://one", 1), ("https://two", 2), ("https://one", 3)):
        searches.find(Query("a"))
        assert len(hub.asked) == asked


def test_what_was_told_to_another_meanwhile_is_not_kept(clock):
    asker = ["https://one"]

    class Slow:
        def search(self, query, most=100, task=None):
            told = Hit(f"o/of-{asker[0]}")
            asker[0] = "https://two"
            return (told,)

    searches = Searches(Slow(), clock, lambda: asker[0])
    assert searches.find(Query("a")) == (Hit("o/of-https://one"),)
    assert searches.find(Query("a")) == (Hit("o/of-https://two"),)


def test_the_number_is_bounded_and_the_last_used_stay(hub, monkeypatch):
    monkeypatch.setattr(module, "KEPT_SEARCHES", 2)
    searches = Searches(hub)
    for words in ("a", "b", "a", "c"):
        searches.find(Query(words))
    assert [words for words, _most in hub.asked] == ["a", "b", "c"]
    for words in ("c", "a", "b"):
        searches.find(Query(words))
    assert [words for words, _most in hub.asked] == ["a", "b", "c", "b"]


def test_a_search_that_hangs_is_left_at_once(searches, hub):
    hub.held.clear()
    task = Task()
    threading.Timer(0.02, task.cancel).start()
    with pytest.raises(Cancelled):
        searches.find(Query("a"), task=task)
    hub.held.set()
    searches.find(Query("a"))
    assert len(hub.asked) == 2


def test_faults_of_the_network_come_through_another_thread():
    with FakeHub() as fake:
        fake.faults.next(Status(503), on="api")
        hub = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: False), NetworkLog())
        with pytest.raises(Unreachable) as caught:
            Searches(hub).find(Query("a"), task=Task())
        assert caught.value.code == "hub.server"
        hub.close()
