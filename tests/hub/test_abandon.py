import threading

import pytest

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.hub.abandon import abandonable


def test_what_comes_is_returned():
    undone = []
    assert abandonable(lambda: 7, undone.append, Task()) == 7
    assert undone == []


def test_what_is_raised_is_raised():
    with pytest.raises(ZeroDivisionError):
        abandonable(lambda: 1 // 0, print, Task())


def test_what_comes_too_late_is_undone():
    late, undone, task = threading.Event(), threading.Event(), Task()
    begun = threading.Event()

    def act():
        begun.set()
        late.wait(5)
        return 7

    threading.Thread(target=lambda: (begun.wait(5), task.cancel())).start()
    with pytest.raises(Cancelled):
        abandonable(act, lambda seven: undone.set(), task)
    assert not undone.is_set()
    late.set()
    assert undone.wait(5)


def test_what_is_cancelled_before_does_not_wait():
    task, late = Task(), threading.Event()
    task.cancel()
    with pytest.raises(Cancelled):
        abandonable(lambda: late.wait(5), lambda _: None, task)
    late.set()
