"""What else the machine did while a model answered."""

from dataclasses import replace

import psutil
import pytest

from weighbridge.running import company
from weighbridge.running.company import Company, Watch, is_alone
from weighbridge.running.state import Running, State
from weighbridge_engines.api import Load


def running(model_id="m", state=State.READY, **changes):
    return replace(Running(model_id, model_id, "echo", state, Load(model_id)), **changes)


class Supervised:
    """Says what a test puts in `now`, and tells who listens."""

    def __init__(self, *now):
        self.now = now
        self.listeners = []

    def running(self):
        return self.now

    def subscribe(self, listener):
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def become(self, *now):
        self.now = now
        for listener in self.listeners:
            listener()


@pytest.mark.parametrize(
    ("others", "alone"),
    [
        ((), True),
        ((running("b"),), True),
        ((running("b", in_flight=1),), False),
        ((running("b", State.LOADING),), False),
        ((running("b", State.STOPPING), running("c", State.FAILED)), True),
    ],
)
def test_alone_is_who_answers_while_no_other_does_or_is_loaded(others, alone):
    assert is_alone("m", [running(in_flight=1), *others]) is alone


def test_who_answers_twice_is_not_alone():
    assert is_alone("m", [running(in_flight=2)]) is False
    assert is_alone("m", [running(state=State.LOADING)]) is True  # what is told of a load comes a moment late


def test_an_answer_that_came_and_went_in_between_is_seen():
    supervised = Supervised(running(in_flight=1))
    watch = Watch(supervised, "m")
    supervised.become(running(in_flight=1), running("b", in_flight=1))
    supervised.become(running(in_flight=1))
    assert watch.end() == Company(running(in_flight=1), False, None)
    assert supervised.listeners == []


@pytest.mark.parametrize("now", [(), (running(state=State.STOPPING),), (running(state=State.FAILED),)])
def test_a_model_that_is_gone_tells_nothing(now):
    supervised = Supervised(running())
    watch = Watch(supervised, "m")
    supervised.now = now
    assert watch.end() is None
    assert supervised.listeners == []


class Clock:
    """A processor of two cores whose engine and others take what a test says, in seconds of both."""

    def __init__(self, monkeypatch):
        self.at_s, self.engine_s, self.others_s = 0.0, 0.0, 0.0
        times = psutil.Process().cpu_times()
        monkeypatch.setattr(company.time, "monotonic", lambda: self.at_s)
        monkeypatch.setattr(company, "processor_times", lambda: (self.engine_s + self.others_s, 2 * self.at_s))
        monkeypatch.setattr(
            company.psutil.Process, "cpu_times", lambda process: times._replace(user=self.engine_s, system=0.0)
        )
        monkeypatch.setattr(company.psutil.Process, "children", lambda process, recursive: [])


def watched(monkeypatch, seconds, engine_s, others_s):
    clock = Clock(monkeypatch)
    one = running(pid=psutil.Process().pid)
    watch = Watch(Supervised(one), "m")
    clock.at_s, clock.engine_s, clock.others_s = seconds, engine_s, others_s
    return watch.end().busy


def test_the_share_of_the_processor_that_others_used(monkeypatch):
    assert watched(monkeypatch, 10.0, 9.0, 4.0) == pytest.approx(0.2)
    assert watched(monkeypatch, 10.0, 10.5, -0.5) == 0.0


def test_over_a_moment_the_share_is_not_known(monkeypatch):
    assert watched(monkeypatch, 0.4, 0.1, 0.4) is None


def test_an_engine_that_cannot_be_looked_at_leaves_the_share_unknown():
    for pid in (None, 2**30):
        assert Watch(Supervised(running(pid=pid)), "m").end() == Company(running(pid=pid), True, None)
