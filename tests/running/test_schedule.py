import pytest

from weighbridge.running.schedule import Occupied, Room, Steps, Wanted, expired, next_steps
from weighbridge.running.state import State
from weighbridge_engines.api import Load

LOAD = Load(model="m")
TWO_SLOTS = Load(model="m", slots=2)
UNKNOWN = Room()
GIB = 1 << 30


def ready(model_id, in_flight=0, load=LOAD, last_used_s=0.0, memory_gib=None, pinned=False):
    memory_bytes = None if memory_gib is None else memory_gib * GIB
    return Occupied(model_id, State.READY, load, in_flight, last_used_s, memory_bytes, pinned)


def wanted(model_id, need_gib):
    return Wanted(model_id, need_bytes=need_gib * GIB)


def room(free_gib, settling=False):
    return Room(free_gib * GIB, settling)


def stop(*model_ids):
    return Steps(stop=frozenset(model_ids))


def test_nothing_waits():
    assert next_steps([], [ready("a")], UNKNOWN) == Steps()


def test_who_only_wants_the_model_loaded_takes_no_slot_from_those_who_ask_it():
    queue = [Wanted("a", only_load=True), Wanted("a", LOAD, only_load=True), Wanted("a"), Wanted("a")]
    assert next_steps(queue, [ready("a")], UNKNOWN) == Steps(admit=(0, 1, 2))


def test_first_request_loads():
    assert next_steps([Wanted("a")], [], UNKNOWN) == Steps(start=0)


def test_the_first_model_is_tried_also_where_it_does_not_fit():
    assert next_steps([wanted("a", 9)], [], room(4)) == Steps(start=0)


def test_a_request_waits_while_its_model_loads():
    assert next_steps([Wanted("a")], [Occupied("a", State.LOADING, LOAD)], UNKNOWN) == Steps()


def test_as_many_are_let_in_as_there_are_slots():
    assert next_steps([Wanted("a")] * 3, [ready("a", load=TWO_SLOTS)], UNKNOWN) == Steps(admit=(0, 1))


def test_two_requests_for_one_new_model_load_it_once():
    assert next_steps([Wanted("a"), Wanted("a")], [], UNKNOWN) == Steps(start=0)


def test_two_new_models_load_one_after_the_other():
    assert next_steps([wanted("a", 1), wanted("b", 1)], [], room(9)) == Steps(start=0)
    loading = Occupied("a", State.LOADING, LOAD)
    assert next_steps([wanted("a", 1), wanted("b", 1)], [loading], room(9)) == Steps()


def test_a_load_that_nobody_waits_for_any_more_gives_way():
    loading = Occupied("a", State.LOADING, LOAD)
    assert next_steps([], [loading], UNKNOWN) == Steps()
    assert next_steps([Wanted("b")], [loading], UNKNOWN) == stop("a")


def test_what_fits_beside_is_loaded_beside():
    assert next_steps([wanted("b", 4)], [ready("a", in_flight=1)], room(4)) == Steps(start=0)


def test_an_idle_model_makes_room():
    assert next_steps([wanted("b", 4)], [ready("a", memory_gib=2)], room(3)) == stop("a")


def test_where_a_need_is_unknown_all_idle_ones_make_room():
    assert next_steps([Wanted("b")], [ready("a"), ready("c")], room(99)) == stop("a", "c")
    assert next_steps([wanted("b", 1)], [ready("a")], UNKNOWN) == stop("a")


def test_nothing_in_flight_is_ended():
    assert next_steps([wanted("b", 4)], [ready("a", in_flight=1)], room(1)) == Steps()


def test_nothing_pinned_is_ended_and_the_load_is_tried():
    assert next_steps([wanted("b", 4)], [ready("a", pinned=True)], room(1)) == Steps(start=0)


def test_no_more_are_ended_than_needed_the_least_recently_used_first():
    occupied = [
        ready("a", last_used_s=9.0, memory_gib=4),
        ready("b", last_used_s=3.0, memory_gib=2),
        ready("c", last_used_s=5.0, memory_gib=2),
    ]
    assert next_steps([wanted("d", 5)], occupied, room(1)) == stop("b", "c")
    assert next_steps([wanted("d", 3)], occupied, room(1)) == stop("b")


def test_no_second_victim_while_one_is_stopping():
    occupied = [Occupied("a", State.STOPPING, LOAD), ready("b")]
    assert next_steps([wanted("c", 4)], occupied, room(1)) == Steps()


def test_the_next_load_waits_until_what_was_given_back_is_seen():
    assert next_steps([wanted("b", 4)], [ready("a", pinned=True)], room(1, settling=True)) == Steps()
    assert next_steps([wanted("b", 4)], [ready("a", pinned=True)], room(4, settling=True)) == Steps(start=0)


def test_younger_requests_do_not_keep_an_older_one_out():
    queue = [wanted("b", 4), Wanted("a")]
    assert next_steps(queue, [ready("a", in_flight=1, load=TWO_SLOTS)], room(1)) == Steps()


def test_older_requests_of_a_busy_model_go_before():
    queue = [Wanted("a"), wanted("b", 4)]
    assert next_steps(queue, [ready("a")], room(1)) == Steps(admit=(0,))


def test_another_load_of_the_same_model_ends_the_present_one_when_idle():
    other = Load(model="m", context=512)
    assert next_steps([Wanted("a", other)], [ready("a", pinned=True)], UNKNOWN) == stop("a")
    assert next_steps([Wanted("a", other)], [ready("a", in_flight=1)], UNKNOWN) == Steps()


def test_requests_behind_a_change_of_load_wait_for_it():
    other = Load(model="m", context=512)
    queue = [Wanted("a", other), Wanted("a")]
    assert next_steps(queue, [ready("a", in_flight=1, load=TWO_SLOTS)], UNKNOWN) == Steps()


@pytest.mark.parametrize(
    ("one", "gone"),
    [
        (ready("a", last_used_s=40.0), True),
        (ready("a", last_used_s=41.0), False),
        (ready("a", last_used_s=0.0, in_flight=1), False),
        (ready("a", last_used_s=0.0, pinned=True), False),
        (Occupied("a", State.LOADING, LOAD), False),
    ],
)
def test_time_to_live(one, gone):
    assert expired([one], 100.0, 60.0) == ({"a"} if gone else frozenset())
    assert expired([one], 100.0, None) == frozenset()


def elsewhere(model_id, in_flight=0, state=State.READY):
    return Occupied(model_id, state, TWO_SLOTS, in_flight, elsewhere=True)


def test_what_runs_elsewhere_is_attached_at_once_whatever_loads_or_waits_here():
    queue = [wanted("big", 9), Wanted("far", elsewhere=True), Wanted("farther", elsewhere=True)]
    busy = [ready("a", in_flight=1, memory_gib=2)]
    assert next_steps(queue, busy, room(1)) == Steps(attach=(1, 2))
    loading = [Occupied("b", State.LOADING, LOAD)]
    assert next_steps([Wanted("b"), Wanted("far", elsewhere=True)], loading, UNKNOWN) == Steps(attach=(1,))


def test_what_runs_elsewhere_is_let_in_though_an_older_request_waits_for_room():
    queue = [wanted("big", 9), Wanted("far", elsewhere=True), Wanted("far", elsewhere=True)]
    assert next_steps(queue, [ready("a", in_flight=1, memory_gib=2), elsewhere("far", 1)], room(1)) == Steps(admit=(1,))


def test_what_runs_elsewhere_is_not_ended_for_room_and_is_nothing_that_must_go_first():
    assert next_steps([Wanted("a")], [elsewhere("far"), elsewhere("slow", state=State.LOADING)], UNKNOWN) == Steps(
        start=0
    )
    assert next_steps([wanted("a", 9)], [elsewhere("far"), ready("b", memory_gib=2)], room(1)) == stop("b")
