import gc
import threading
import weakref

import pytest

from weighbridge.ui import garbage

THRESHOLDS = (700, 10, 10)


@pytest.mark.parametrize(
    ("counts", "generation"),
    [((700, 99, 99), None), ((701, 10, 99), 0), ((701, 11, 10), 1), ((701, 11, 11), 2)],
)
def test_what_is_due(counts, generation):
    assert garbage.due(counts, THRESHOLDS) == generation


class Node:
    """Something in a cycle."""


def test_a_cycle_goes_on_the_gui_thread(qapp, monkeypatch):
    monkeypatch.setattr(garbage, "due", lambda counts, thresholds: 2)
    collector = garbage.Garbage()
    try:
        threads = []
        node = Node()
        node.myself = node
        weakref.finalize(node, lambda: threads.append(threading.current_thread()))
        del node
        worker = threading.Thread(target=lambda: [[] for _ in range(200_000)])
        worker.start()
        worker.join()
        assert threads == []
        collector._timer.timeout.emit()
        assert threads == [threading.main_thread()]
    finally:
        collector.close()
    assert gc.isenabled()
