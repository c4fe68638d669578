"""The bridge: results, errors and cancels come back in the GUI thread, and closing leaves nothing."""

import threading
from concurrent.futures import Future
from functools import partial

import pytest
from PySide6.QtCore import QObject, QThread
from shiboken6 import delete

from weighbridge.base.errors import Cancelled
from weighbridge.ui.background import Background


@pytest.fixture
def background(qapp):
    made = Background()
    yield made
    made.close()


@pytest.mark.parametrize("way", ["run", "stream"])
def test_a_result_comes_back_in_the_gui_thread(qtbot, background, way):
    got = []
    getattr(background, way)(
        lambda task: threading.current_thread(),
        lambda thread: got.append((thread, QThread.currentThread())),
        got.append,
    )
    qtbot.waitUntil(lambda: bool(got))
    thread, gui = got[0]
    assert thread is not threading.main_thread()
    assert gui is background.thread()


@pytest.mark.parametrize("way", ["run", "stream"])
def test_an_error_comes_back(qtbot, background, way):
    got = []
    getattr(background, way)(lambda task: 1 // 0, got.append, got.append)
    qtbot.waitUntil(lambda: bool(got))
    assert isinstance(got[0], ZeroDivisionError)


class Heard(QObject):
    def __init__(self):
        super().__init__()
        self.told = []

    def hear(self, what):
        self.told.append(what)

    def hear_of(self, name, what):
        self.told.append((name, what))


@pytest.mark.parametrize("bound", [lambda heard: heard.hear, lambda heard: partial(heard.hear_of, "a")])
def test_what_is_deleted_meanwhile_is_told_nothing(qtbot, background, bound):
    gone, there, after = Heard(), Heard(), []
    background.run(lambda task: 1, bound(gone), after.append)
    background.run(lambda task: 1 // 0, after.append, bound(gone))
    background.run(lambda task: 2, bound(there), after.append)
    delete(gone)
    qtbot.waitUntil(lambda: len(there.told) == 1)
    qtbot.waitUntil(lambda: not background._tasks)
    assert (gone.told, after) == ([], [])


@pytest.mark.parametrize("way", ["run", "stream"])
def test_a_cancelled_task_ends_as_cancelled_even_if_its_work_succeeds(qtbot, background, way):
    got, go = [], threading.Event()
    task = getattr(background, way)(lambda task: go.wait(5), got.append, got.append)
    task.cancel()
    go.set()
    qtbot.waitUntil(lambda: bool(got))
    assert isinstance(got[0], Cancelled)


def test_close_cancels_waits_and_calls_nothing_back(qtbot, background):
    got, started, ended = [], threading.Event(), []

    def work(task):
        woken = threading.Event()
        task.on_cancel(woken.set)
        started.set()
        woken.wait(5)
        ended.append(True)
        task.check()

    background.stream(work, got.append, got.append, name="answer")
    assert started.wait(5)
    background.close()
    assert ended == [True]
    qtbot.wait(1)
    assert got == []


def test_a_future_that_is_done_already_calls_back_later(qtbot, background):
    future, got = Future(), []
    future.set_result(1)
    background.follow(future, got.append, got.append)
    assert got == []
    qtbot.waitUntil(lambda: got == [1])


def test_cancelling_a_followed_future_cancels_it(qtbot, background):
    future, got = Future(), []
    background.follow(future, got.append, got.append).cancel()
    assert future.cancelled()
    qtbot.waitUntil(lambda: bool(got))
    assert isinstance(got[0], Cancelled)


def test_nothing_starts_after_close(qapp):
    background = Background()
    background.close()
    with pytest.raises(RuntimeError):
        background.run(lambda task: None, lambda value: None, lambda error: None)
