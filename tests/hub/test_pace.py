import pytest

from weighbridge.base.errors import Cancelled, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.pace import Bucket, Meter, Throttle, wait_s

FAULT = Unreachable("hub.unreachable", host="h", reason="r")


def test_waits_double_up_to_a_minute():
    assert [wait_s(attempt, FAULT) for attempt in (1, 2, 3, 9, 10, 10_000)] == [0.2, 0.4, 0.8, 51.2, 60, 60]


def test_a_rate_limit_says_how_long():
    assert wait_s(9, Unreachable("hub.rate_limit", seconds=12)) == 12
    assert wait_s(1, Unreachable("hub.rate_limit", seconds=0)) == 0.2


def test_a_bucket_lets_through_its_rate():
    bucket, delay = Bucket(1000).take(1000, 0)
    assert delay == pytest.approx(0.75)
    bucket, delay = bucket.take(1000, 1)
    assert delay == pytest.approx(0.75)
    _, delay = bucket.take(10, 100)
    assert delay == 0


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Sleeper(Task):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def wait(self, seconds):
        self.check()
        self.clock.now += seconds


def test_all_together_keep_to_the_limit_and_it_can_change():
    clock = Clock()
    limit = [1000]
    throttle, task = Throttle(lambda: limit[0], clock), Sleeper(clock)
    for _ in range(10):
        throttle.take(500, task)
    assert clock.now == pytest.approx(5, abs=0.3)
    limit[0] = 10_000
    throttle.take(10_000, task)
    assert clock.now == pytest.approx(6, abs=0.6)
    limit[0] = None
    throttle.take(1 << 40, task)
    assert clock.now < 7


def test_a_cancel_ends_the_wait():
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        Throttle(lambda: 1).take(1000, task)


def test_the_speed_of_the_last_seconds():
    clock = Clock()
    meter = Meter(clock)
    assert meter.bytes_s is None
    for second in range(20):
        clock.now = second
        meter.tell(second * 100 if second < 10 else 900)
        if second == 9:
            assert meter.bytes_s == 100
    assert meter.bytes_s == 0


def test_a_total_that_shrinks_begins_anew():
    clock = Clock()
    meter = Meter(clock)
    meter.tell(1000)
    clock.now = 1
    meter.tell(10)
    assert meter.bytes_s is None
    clock.now = 2
    meter.tell(30)
    assert meter.bytes_s == 20
