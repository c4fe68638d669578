import threading
import time

import pytest
from tests.hub.made_source import COMMIT, Broken, MadeSource, content, remote

from weighbridge.base.errors import BadFile, Cancelled, Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.pace import Throttle
from weighbridge.hub.part import Origin, Part
from weighbridge.hub.transfer import Phase, Transfer

DATA = content("m", 50_000)
UNREACHABLE = Unreachable("hub.unreachable", host="cdn.local", reason="reset")


class Waits(Task):
    """A task whose waits take no time, and are noted."""

    def __init__(self):
        super().__init__()
        self.waited = []

    def wait(self, seconds):
        self.check()
        self.waited.append(seconds)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "o" / "r" / "m.gguf"


def transfer(source, target, task=None, data=DATA):
    throttle = Throttle(lambda: None)
    return Transfer(source, Origin("o/r", COMMIT), remote("m.gguf", data), target, throttle, task or Waits())


def source(*broken, **values):
    return MadeSource({"m.gguf": DATA}, broken=list(broken), **values)


def names(target):
    return sorted(path.name for path in target.parent.iterdir())


def test_a_file_comes_whole(target):
    hub = source()
    assert transfer(hub, target).run() is True
    assert target.read_bytes() == DATA
    assert names(target) == ["m.gguf"]
    assert hub.starts == [0]


def test_what_is_here_is_not_fetched_again(target):
    hub = source()
    transfer(hub, target).run()
    assert transfer(hub, target).run() is False
    assert hub.starts == [0]
    assert names(target) == ["m.gguf"]


def test_another_file_of_that_name_is_replaced_once_the_right_one_is_whole(target):
    target.parent.mkdir(parents=True)
    target.write_bytes(bytes(len(DATA)))
    transfer(source(), target).run()
    assert target.read_bytes() == DATA


def test_each_attempt_asks_anew_and_goes_on_at_the_last_byte(target):
    hub = source(
        Broken(12_000, UNREACHABLE), Broken(8_000), Broken(0, Unreachable("hub.expired", host="h", reason="r"))
    )
    task = Waits()
    assert transfer(hub, target, task).run()
    assert hub.starts == [0, 12_000, 20_000, 20_000]
    assert hub.located == 4
    assert target.read_bytes() == DATA


def test_waits_grow_while_nothing_comes_and_begin_anew_when_something_did(target):
    nothing = [Broken(0, UNREACHABLE) for _ in range(3)]
    task = Waits()
    transfer(source(*nothing, Broken(5_000, UNREACHABLE), Broken(0, UNREACHABLE)), target, task).run()
    assert task.waited == [0.2, 0.4, 0.8, 0.2, 0.4]


def test_a_rate_limit_is_waited_for(target):
    hub = source(answers=[Unreachable("hub.rate_limit", seconds=37)])
    task = Waits()
    transfer(hub, target, task).run()
    assert task.waited == [37]


def test_a_server_that_ignores_the_range_begins_from_zero(target):
    hub = source(Broken(30_000, UNREACHABLE), Broken(len(DATA), start=0))
    transfer(hub, target).run()
    assert target.read_bytes() == DATA


def test_a_range_that_starts_elsewhere_is_not_taken(target):
    hub = source(Broken(30_000, UNREACHABLE), Broken(10_000, start=20_000), Broken(len(DATA)))
    transfer(hub, target).run()
    assert target.read_bytes() == DATA
    assert hub.starts == [0, 30_000, 30_000]


def test_one_wrong_byte_costs_a_second_fetch(target):
    hub = source(Broken(wrong_at=777))
    transfer(hub, target).run()
    assert hub.starts == [0, 0]
    assert target.read_bytes() == DATA


def test_wrong_bytes_twice_are_told_and_thrown_away(target):
    with pytest.raises(BadFile) as caught:
        transfer(source(Broken(wrong_at=1), Broken(wrong_at=2)), target).run()
    assert caught.value.code == "hub.corrupt"
    assert names(target) == []


@pytest.mark.parametrize("change", [{"commit": "e" * 40}, {"files": {"m.gguf": DATA + b"x"}}, {"files": {}}])
def test_another_file_upstream_is_told(target, change):
    hub = source(Broken(10_000, UNREACHABLE))
    task = Waits()
    task.wait = lambda seconds: [setattr(hub, name, value) for name, value in change.items()]
    with pytest.raises(Refused) as caught:
        transfer(hub, target, task).run()
    assert caught.value.code == "hub.changed"
    assert not target.exists()


def test_a_refusal_is_final(target):
    hub = source(answers=[Refused("hub.gated", repo_id="o/r", page="p")])
    with pytest.raises(Refused) as caught:
        transfer(hub, target).run()
    assert caught.value.code == "hub.gated"
    assert hub.located == 1


def test_an_empty_file_needs_no_connection(target):
    hub = MadeSource({"m.gguf": b""})
    assert transfer(hub, target, data=b"").run()
    assert target.read_bytes() == b""
    assert hub.located == 0


def cancelled_while(hub, target, ready, task=None):
    """How many seconds a cancel took, made once `ready` says so."""
    task = task or Task()
    one = transfer(hub, target, task)
    ended = []

    def work():
        try:
            one.run()
        except Cancelled:
            ended.append(time.monotonic())

    thread = threading.Thread(target=work)
    thread.start()
    until = time.monotonic() + 5
    while not ready(one) and time.monotonic() < until:
        time.sleep(0.001)
    began = time.monotonic()
    task.cancel()
    thread.join(5)
    return ended[0] - began


def test_a_cancel_ends_a_stalled_connection_and_keeps_what_came(target):
    hub = source(Broken(20_000, stalls=True))
    assert cancelled_while(hub, target, lambda one: one.have_bytes == 20_000) < 2
    with Part(target, remote("m.gguf", DATA), Origin("o/r", COMMIT)) as part:
        assert part.have_bytes == 20_000


def test_a_cancel_ends_a_look_up_that_hangs(target):
    hub = source(stuck=threading.Event())
    assert cancelled_while(hub, target, lambda one: hub.located) < 2
    hub.stuck.set()


def test_a_cancel_ends_a_wait(target):
    hub = source(answers=[Unreachable("hub.rate_limit", seconds=500)])
    assert cancelled_while(hub, target, lambda one: one.standing.phase is Phase.RETRYING) < 2


def test_how_it_stands_while_it_waits(target):
    seen = []
    task = Waits()
    one = transfer(source(Broken(7_000, UNREACHABLE)), target, task)
    task.wait = lambda seconds: seen.append((one.standing, one.have_bytes))
    one.run()
    ((standing, have),) = seen
    assert (standing.phase, standing.attempt, standing.error, have) == (Phase.RETRYING, 1, UNREACHABLE, 7_000)
    assert standing.retry_at > time.monotonic() - 5
    assert one.have_bytes == len(DATA)
