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
    ("rested_s", "waited_s", "collected"),
    [(garbage.LONG_REST_S, 0.0, 2), (0.25, 0.25, 1), (0.0, 1.0, 0), (0.0, garbage.PATIENCE_S, 2)],
    ids=["long at rest", "at rest", "at work", "long at work"],
)
def test_the_old_waits_while_there_is_work_but_not_without_end(rested_s, waited_s, collected):
    assert garbage.bearable(2, rested_s, waited_s) == collected
    assert garbage.bearable(0, rested_s, waited_s) == 0


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
    monkeypatch.setattr(garbage, "bearable", lambda generation, rested_s, _: seen.append(rested_s) or 0)
    collector._look()
    end_s = time.thread_time() + 0.05
    while time.thread_time() < end_s:
        pass
    monkeypatch.setattr(garbage, "REST", 0.0)
    collector._look()
    monkeypatch.setattr(garbage, "REST", 0.9)
    time.sleep(0.05)
    collector._look()
    assert seen[1] == 0
    assert seen[2] >= 0.05


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


def test_what_comes_in_bulk_is_left_out_without_a_look(collector, monkeypatch):
    looked = []
    monkeypatch.setattr(gc, "collect", looked.append)
    listing = [[number] for number in range(garbage.BULK + 1000)]
    collector._look()
    assert looked == []
    assert gc.get_freeze_count() >= len(listing)


def test_what_comes_in_bulk_by_and_by_is_left_out_without_a_look_too(collector, monkeypatch):
    looked, listing = [], []
    monkeypatch.setattr(garbage, "due", lambda counts, thresholds: 1)
    monkeypatch.setattr(garbage, "bearable", lambda generation, *_: generation)
    monkeypatch.setattr(gc, "collect", looked.append)
    for _ in range(4):
        listing += [[number] for number in range(garbage.BULK // 3)]
        collector._look()
    assert len(looked) <= 3
    assert gc.get_freeze_count() >= garbage.BULK
