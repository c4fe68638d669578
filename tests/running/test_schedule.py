from weighbridge.running.schedule import Occupied, Steps, Wanted, next_steps
from weighbridge.running.state import State
from weighbridge_engines.api import Load

LOAD = Load(model="m")
TWO_SLOTS = Load(model="m", slots=2)


def ready(model_id, in_flight=0, load=LOAD, last_used_s=0.0):
    return Occupied(model_id, State.READY, load, in_flight, last_used_s)


def test_nothing_waits():
    assert next_steps([], [ready("a")], 1) == Steps()


def test_first_request_loads():
    assert next_steps([Wanted("a")], [], 1) == Steps(start=0)


def test_a_request_waits_while_its_model_loads():
    assert next_steps([Wanted("a")], [Occupied("a", State.LOADING, LOAD)], 1) == Steps()


def test_as_many_are_let_in_as_there_are_slots():
    steps = next_steps([Wanted("a")] * 3, [ready("a", load=TWO_SLOTS)], 1)
    assert steps == Steps(admit=(0, 1))


def test_an_idle_model_makes_room():
    assert next_steps([Wanted("b")], [ready("a")], 1) == Steps(stop=frozenset({"a"}))


def test_nothing_in_flight_is_ended():
    assert next_steps([Wanted("b")], [ready("a", in_flight=1)], 1) == Steps()


def test_no_second_victim_while_one_is_stopping():
    occupied = [Occupied("a", State.STOPPING, LOAD), ready("b")]
    assert next_steps([Wanted("c")], occupied, 2) == Steps()


def test_the_least_recently_used_goes_first():
    occupied = [ready("a", last_used_s=9.0), ready("b", last_used_s=3.0)]
    assert next_steps([Wanted("c")], occupied, 2) == Steps(stop=frozenset({"b"}))


def test_younger_requests_do_not_keep_an_older_one_out():
    queue = [Wanted("b"), Wanted("a")]
    assert next_steps(queue, [ready("a", in_flight=1, load=TWO_SLOTS)], 1) == Steps()


def test_older_requests_of_a_busy_model_go_before():
    queue = [Wanted("a"), Wanted("b")]
    assert next_steps(queue, [ready("a")], 1) == Steps(admit=(0,))


def test_two_requests_for_one_new_model_load_it_once():
    assert next_steps([Wanted("a"), Wanted("a")], [], 1) == Steps(start=0)


def test_two_new_models_load_one_after_the_other():
    assert next_steps([Wanted("a"), Wanted("b")], [], 1) == Steps(start=0)


def test_another_load_of_the_same_model_ends_the_present_one_when_idle():
    other = Load(model="m", context=512)
    assert next_steps([Wanted("a", other)], [ready("a")], 1) == Steps(stop=frozenset({"a"}))
    assert next_steps([Wanted("a", other)], [ready("a", in_flight=1)], 1) == Steps()


def test_requests_behind_a_change_of_load_wait_for_it():
    other = Load(model="m", context=512)
    queue = [Wanted("a", other), Wanted("a")]
    assert next_steps(queue, [ready("a", in_flight=1, load=TWO_SLOTS)], 1) == Steps()


def test_there_is_room_for_two():
    assert next_steps([Wanted("b")], [ready("a", in_flight=1)], 2) == Steps(start=0)
