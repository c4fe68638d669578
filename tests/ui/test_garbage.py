import gc
import threading
import weakref

import pytest
from PySide6.QtWidgets import QWidget

from weighbridge.ui.garbage import Garbage, due

THRESHOLDS = (700, 10, 10)


@pytest.mark.parametrize(
    ("counts", "generation"),
    [((700, 99, 99), None), ((701, 10, 99), 0), ((701, 11, 10), 1), ((701, 11, 11), 2)],
)
def test_what_is_due(counts, generation):
    assert due(counts, THRESHOLDS) == generation


def test_a_widget_in_a_cycle_goes_on_the_gui_thread(qtbot):
    garbage = Garbage()
    try:
        threads = []

        def cycle():
            widget = QWidget()
            widget.myself = widget
            weakref.finalize(widget, lambda: threads.append(threading.current_thread()))

        cycle()
        worker = threading.Thread(target=lambda: [[] for _ in range(200_000)])
        worker.start()
        worker.join()
        assert threads == []
        kept = [[] for _ in range(2 * gc.get_threshold()[0])]
        qtbot.waitUntil(lambda: threads == [threading.main_thread()])
    finally:
        garbage.close()
    assert kept and gc.isenabled()
