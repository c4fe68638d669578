import gc
import threading
import time
import weakref

import pytest

from weighbridge.ui import garbage

THRESHOLDS = (700, 10, 10)


@pytest.fixture
def collector(qapp):
    made = garbage.Garbage()
    made._timer.stop()
    yield made
    made.close()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize(
    ("counts", "generation"),
    [((700, 99, 99), None), ((701, 10, 99), 0), ((701, 11, 10), 1), ((701, 11, 11), 2)],
)
def test_what_is_due(counts, generation):
    assert garbage.due(counts, THRESHOLDS) == generation


@pytest.mark.parametrize(
    ("used", "waited_s", "fresh", "collected"),
    [
        (0.02, 1.0, 1000, 2),
        (0.1, 1.0, 1000, 2),
        (0.5, 1.0, 1000, None),
        (0.5, garbage.PATIENCE_S, 1000, 2),
        (0.5, 1.0, garbage.MOST, 0),
    ],
    ids=["at rest", "nearly", "at work", "long at work", "much at work"],
)
def test_what_is_due_waits_while_there_is_work_but_not_without_end(used, waited_s, fresh, collected):
    assert garbage.bearable(2, used, waited_s, fresh) == collected


class Node:
    """Something in a cycle."""


def cycle():
    node = Node()
    node.myself = node
    return node


def test_a_cycle_goes_on_the_gui_thread(collector, monkeypatch):
    monkeypatch.setattr(garbage, "due", lambda counts, thresholds: 2)
    monkeypatch.setattr(garbage, "bearable", lambda generation, *_: generation)
    threads = []
    node = cycle()
    weakref.finalize(node, lambda: threads.append(threading.current_thread()))
    del node
    worker = threading.Thread(target=lambda: [[] for _ in range(200_000)])
    worker.start()
    worker.join()
    assert threads == []
    collector._timer.timeout.emit()
    assert threads == [threading.main_thread()]


def test_a_busy_thread_is_told_from_one_at_rest(collector, monkeypatch):
    seen = []
    monkeypatch.setattr(garbage, "due", lambda counts, thresholds: 2)
    monkeypatch.setattr(garbage, "bearable", lambda generation, used, *_: seen.append(used))
    collector._look()
    end_s = time.thread_time() + 0.05
    while time.thread_time() < end_s:
        pass
    collector._look()
    time.sleep(0.05)
    collector._look()
    _first, busy, rested = seen
    assert rested < busy


def test_without_a_rest_old_garbage_goes_after_some_time(collector, monkeypatch):
    monkeypatch.setattr(garbage, "due", lambda counts, thresholds: 2)
    monkeypatch.setattr(garbage, "PATIENCE_S", 0.0)
    monkeypatch.setattr(garbage, "REST", -1.0)
    gone = weakref.ref(cycle())
    collector._look()
    assert gone() is None


def test_what_outlives_a_whole_collection_is_left_out_of_the_next_ones_but_looked_at_in_the_end(collector, monkeypatch):
    monkeypatch.setattr(garbage, "due", lambda counts, thresholds: 2)
    monkeypatch.setattr(garbage, "bearable", lambda generation, *_: generation)
    node = cycle()
    gone = weakref.ref(node)
    collector._look()
    assert gc.get_freeze_count() > 0
    del node
    for _ in range(garbage.DEEP - 2):
        collector._look()
    assert gone() is not None
    collector._look()
    assert gone() is None
