"""Looks one after the other: what is waited for goes first, what is counted leaves calls over."""

import time

import pytest

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.hub.allowance import Allowance
from weighbridge.hub.looking import Sight, Spot
from weighbridge.hub.remote import Repository
from weighbridge.ui.background import Background
from weighbridge.ui.discover.looks import RESERVE, RESERVE_OF_MORE, Looks, place_of


class FakeLooker:
    """Sees at once what it is asked, fails as it is told, or waits until it is given up."""

    def __init__(self):
        self.asked = []
        self.fails = {}
        self.unread = {}
        self.hangs = set()
        self.forgotten = []

    def look(self, spot, task):
        self.asked.append(spot.repo_id)
        if spot.repo_id in self.hangs:
            task.wait(60)
        error = self.fails.pop(spot.repo_id, None)
        if error is not None:
            raise error
        unread = self.unread.pop(spot.repo_id, None)
        return Sight(spot, Repository(spot.repo_id, spot.revision, "a" * 40, ()), unread=unread)

    def forget(self, spot):
        self.forgotten.append(spot.repo_id)


@pytest.fixture
def looker():
    return FakeLooker()


@pytest.fixture
def allowed():
    return {"now": None}


@pytest.fixture
def looks(qapp, looker, allowed):
    background = Background()
    made = Looks(looker, lambda: allowed["now"], background)
    yield made
    made.stop()
    background.close()


def spots(*names):
    return [Spot(f"o/{name}") for name in names]


def test_one_after_the_other_and_what_is_waited_for_first(qtbot, looks, looker):
    looks.count(spots("a", "b"))
    looks.want(spots("c"))
    qtbot.waitUntil(lambda: len(looks.sights) == 3)
    assert looker.asked == ["o/a", "o/c", "o/b"]
    assert not looks.now


def test_what_was_seen_is_not_looked_at_again(qtbot, looks, looker):
    looks.want(spots("a"))
    qtbot.waitUntil(lambda: "o/a@main" in looks.sights)
    looks.want(spots("a"))
    assert looker.asked == ["o/a"]
    assert not looks.is_waiting(spots("a")[0])


def test_what_is_forgotten_is_looked_at_anew_by_the_hub(qtbot, looks, looker):
    looks.want(spots("a"))
    qtbot.waitUntil(lambda: "o/a@main" in looks.sights)
    looks.forget(spots("a"))
    assert looker.forgotten == ["o/a"]
    looks.want(spots("a"))
    qtbot.waitUntil(lambda: looker.asked == ["o/a", "o/a"])


def test_what_went_out_of_sight_is_wanted_no_more(qtbot, looks, looker):
    looks.want(spots("a", "b", "c"))
    looks.want(spots("d"))
    qtbot.waitUntil(lambda: not looks.now)
    assert looker.asked == ["o/a", "o/d"]


def test_where_few_calls_are_left_nothing_is_only_counted(qtbot, looks, looker, allowed):
    allowed["now"] = Allowance("api", RESERVE + 2, time.monotonic() + 300)
    looks.count(spots("a"))
    assert looks.is_short
    looks.want(spots("b"))
    qtbot.waitUntil(lambda: "o/b@main" in looks.sights)
    assert looker.asked == ["o/b"]
    allowed["now"] = None
    looks._tick()
    qtbot.waitUntil(lambda: "o/a@main" in looks.sights)
    assert not looks.is_short


def test_what_makes_a_count_fuller_leaves_half_of_the_calls(qtbot, looks, looker, allowed):
    allowed["now"] = Allowance("api", RESERVE_OF_MORE, time.monotonic() + 300)
    looks.count(spots("a"), spots("b"))
    qtbot.waitUntil(lambda: not looks.now)
    assert (looker.asked, looks.is_short) == (["o/a"], False)
    allowed["now"] = None
    looks._tick()
    qtbot.waitUntil(lambda: looker.asked == ["o/a", "o/b"])


def test_a_limit_is_waited_out_and_the_spot_comes_first_again(qtbot, looks, looker):
    looker.fails["o/a"] = Unreachable("hub.rate_limit", seconds=0.2, host="h")
    looks.want(spots("a", "b"))
    qtbot.waitUntil(lambda: looks.wait_s > 0)
    qtbot.waitUntil(lambda: len(looks.sights) == 2)
    assert looker.asked == ["o/a", "o/a", "o/b"]


def test_a_failure_is_told_and_the_next_one_is_looked_at(qtbot, looks, looker):
    told = []
    looks.failed.connect(lambda spot, error: told.append((place_of(spot), error.code)))
    looker.fails["o/a"] = Refused("hub.offline")
    looks.want(spots("a", "b"))
    qtbot.waitUntil(lambda: "o/b@main" in looks.sights)
    assert told == [("o/a@main", "hub.offline")]
    looks.count(spots("a"))
    looks.want(spots("a"))
    assert (looks.now, looks.failure(spots("a")[0]).code) == ("", "hub.offline")
    looks.forgive(*spots("a"))
    looks.want(spots("a"))
    qtbot.waitUntil(lambda: "o/a@main" in looks.sights)


def test_where_for_a_moment_no_header_came_it_is_looked_once_more(qtbot, looks, looker):
    looker.unread = {"o/a": Unreachable("hub.server", host="h", reason="HTTP 503"), "o/b": Refused("hub.gated")}
    looks.want(spots("a", "b"))
    qtbot.waitUntil(lambda: len(looks.sights) == 2 and not looks.now)
    assert looker.asked == ["o/a", "o/a", "o/b"]
    assert (looks.sights["o/a@main"].unread, looks.sights["o/b@main"].unread.code) == (None, "hub.gated")


def test_who_rests_looks_no_more_though_the_last_look_was_to_be_done_again(qtbot, looks, looker):
    looker.fails["o/a"] = Unreachable("hub.rate_limit", seconds=0.1, host="h")
    looks.want(spots("a"))
    looks.rest()
    qtbot.waitUntil(lambda: looks.wait_s > 0)
    assert not looks._clock.isActive()
    looks._tick()
    assert (looker.asked, looks.now) == (["o/a"], "")
    qtbot.waitUntil(lambda: looks.wait_s <= 0)
    looks.want(spots("a"))
    qtbot.waitUntil(lambda: "o/a@main" in looks.sights)


def test_while_the_hub_is_away_nothing_is_only_counted(qtbot, looks, looker):
    looker.fails["o/a"] = Unreachable("hub.unreachable", host="h", reason="r")
    looks.count(spots("a", "b"))
    qtbot.waitUntil(lambda: not looks.now)
    looks._tick()
    assert looker.asked == ["o/a"]
    looks.want(spots("c"))
    qtbot.waitUntil(lambda: "o/c@main" in looks.sights)
    looks.forgive()
    looks.count(spots("b"))
    qtbot.waitUntil(lambda: "o/b@main" in looks.sights)


def test_stopping_gives_up_what_hangs_and_tells_nobody(qtbot, looks, looker):
    told = []
    looks.failed.connect(lambda *_: told.append(1))
    looker.hangs.add("o/a")
    looks.want(spots("a", "b"))
    qtbot.waitUntil(lambda: looker.asked == ["o/a"])
    looks.stop()
    qtbot.waitUntil(lambda: not looks.now)
    assert looker.asked == ["o/a"]
    assert told == []


def test_the_same_wish_again_is_told_to_nobody(qtbot, looks, looker):
    """Who hears of a change asks again for what is in sight: without an end to it, the page would draw for ever."""
    looker.hangs.add("o/a")
    looks.want(spots("a", "b"))
    told = []
    looks.changed.connect(lambda: told.append(1))
    for _ in range(3):
        looks.want(spots("a", "b"))
    assert told == [1]  # "a" is wanted again while it is looked at


def test_who_signs_in_amid_a_look_has_it_done_again(qtbot, looks, looker):
    looker.hangs.add("o/a")
    looks.want(spots("a", "b"))
    qtbot.waitUntil(lambda: looker.asked == ["o/a"])
    looker.hangs.clear()
    looks.look_anew()
    qtbot.waitUntil(lambda: len(looks.sights) == 2)
    assert (looker.asked, looker.forgotten) == (["o/a", "o/a", "o/b"], ["o/a"])
