"""Which models stay loaded: by memory, pins and time, over real children of the echo engine.

The machine of these tests has room for two models; a model takes one unit as long as its launcher lives.
"""

import threading
import time

import psutil
import pytest
from tests.running.test_supervisor import WAIT_S, ask, states, until

from weighbridge.running.choose import Defaults
from weighbridge.running.scales import Scales
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.catalogue import catalogue


@pytest.fixture
def make():
    """Makes a supervisor with room for two."""
    made = []

    def supervisor(**options):
        scales = Scales(lambda: 2 - len(psutil.Process().children()), lambda model, load: 1)
        made.append(Supervisor(catalogue(), Defaults(cores=2), scales, **options))
        return made[-1]

    yield supervisor
    for one in made:
        one.close()


def use(supervisor, model):
    """Load a model, and leave it idle."""
    supervisor.lease(model).result(WAIT_S).give_back()
    until(lambda: all(one.in_flight == 0 for one in supervisor.running() if one.model_id == model.id))


def test_two_stay_and_the_third_takes_the_place_of_the_one_used_longest_ago(make, echo):
    supervisor = make()
    one, two, three = (echo(name, tps=0) for name in ("one", "two", "three"))
    use(supervisor, one)
    use(supervisor, two)
    use(supervisor, one)
    assert set(states(supervisor)) == {"one", "two"}
    assert supervisor.would_end(three, supervisor.default_load(three)).result(WAIT_S) == ("two",)
    use(supervisor, three)
    assert set(states(supervisor)) == {"one", "three"}


def test_a_pinned_model_stays(make, echo):
    supervisor = make()
    one, two, three, four = (echo(name, tps=0) for name in ("one", "two", "three", "four"))
    supervisor.pin("one", True)
    use(supervisor, one)
    assert supervisor.running()[0].pinned
    use(supervisor, two)
    assert supervisor.would_end(three, supervisor.default_load(three)).result(WAIT_S) == ("two",)
    use(supervisor, three)
    assert set(states(supervisor)) == {"one", "three"}
    supervisor.pin("one", False)
    use(supervisor, four)
    assert set(states(supervisor)) == {"three", "four"}


def test_a_model_in_use_stays_and_the_request_waits_with_its_place(make, echo):
    supervisor = make()
    one, two, three = (echo(name, tps=0) for name in ("one", "two", "three"))
    first, second = supervisor.lease(one).result(WAIT_S), supervisor.lease(two).result(WAIT_S)
    third, again = supervisor.lease(three), supervisor.lease(three)
    until(lambda: supervisor.position(again) == 2)
    assert supervisor.position(third) == 1
    time.sleep(0.2)
    assert not third.done()
    first.give_back()
    with third.result(WAIT_S):
        assert set(states(supervisor)) == {"two", "three"}
        assert supervisor.position(third) is None
    again.result(WAIT_S).give_back()
    second.give_back()


def test_what_nobody_uses_is_ended_after_its_time(make, echo):
    supervisor = make(idle_s=0.3)
    supervisor.pin("two", True)
    busy = supervisor.lease(echo("busy", tps=0)).result(WAIT_S)
    use(supervisor, echo("two", tps=0))
    time.sleep(1.0)
    assert set(states(supervisor)) == {"busy", "two"}
    busy.give_back()
    until(lambda: set(states(supervisor)) == {"two"})
    supervisor.pin("two", False)
    until(lambda: states(supervisor) == {})


def test_a_load_that_takes_longer_than_a_model_may_be_unused_is_no_idleness(make, echo):
    supervisor = make(idle_s=0.3)
    slow = echo("slow", tps=0, load_s=1.0)
    with supervisor.lease(slow).result(WAIT_S):
        time.sleep(0.2)
        assert states(supervisor) == {"slow": State.READY}
    loaded = echo("loaded", tps=0, load_s=1.0)
    running = supervisor.load(loaded, supervisor.default_load(loaded)).result(WAIT_S)
    assert running.state is State.READY
    assert states(supervisor)["loaded"] is State.READY


def test_six_models_for_three_clients_on_room_for_two(make, echo):
    supervisor = make()
    models = [echo(f"model {number}", tps=0, text=f"I am {number}") for number in range(6)]
    answers, most = [], []

    def client(start):
        for turn in range(6):
            number = (start + turn) % 6
            with supervisor.lease(models[number]).result(WAIT_S) as lease:
                most.append(sum(state is not State.FAILED for state in states(supervisor).values()))
                answers.append((number, ask(lease).json()["choices"][0]["message"]["content"]))

    clients = [threading.Thread(target=client, args=(start,)) for start in (0, 2, 4)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    assert sorted(answers) == sorted((number, f"I am {number}") for number in range(6) for _ in range(3))
    assert max(most) <= 2
