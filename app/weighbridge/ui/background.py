"""The one bridge between other threads and the window.

`run` is for short work (a scan, a probe), on a small pool. `stream` is for work that lasts (an answer of a model), on
a thread of its own, so that it takes no place of the pool. Either way the callbacks come in the GUI thread. Work
reports through its `Task`, which the window reads at a timer's pace; there is no signal per step.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task

T = TypeVar("T")
_Item = tuple[Task, "Future[Any]", Callable[[Any], None], Callable[[BaseException], None]]


class Background(QObject):
    """Runs work off the GUI thread; `done` or `failed` is called back on it.

    A cancelled task ends in `failed(Cancelled)`, even where its work had just succeeded. After `close` nothing is
    called, and no method of what Qt has deleted meanwhile: in another language the window is made anew. Live in the GUI
    thread: make it there.
    """

    _finished = Signal(object)

    def __init__(self, parent: QObject | None = None, threads: int = 4) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="background")
        self._tasks: dict[Task, threading.Thread | None] = {}
        self._closed = False
        # Queued always: work that is over before `run` returns must not call back before its caller has the task.
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self, work: Callable[[Task], T], done: Callable[[T], None], failed: Callable[[BaseException], None]
    ) -> Task:
        """Do short `work` on the pool. Returns the task, to watch or cancel."""
        task = self._begin(None)
        future = self._pool.submit(_checked, work, task)
        future.add_done_callback(lambda ended: self._finished.emit((task, ended, done, failed)))
        return task

    def stream(
        self,
        work: Callable[[Task], T],
        done: Callable[[T], None],
        failed: Callable[[BaseException], None],
        name: str = "stream",
    ) -> Task:
        """Do lasting `work` on a thread of its own called `name`."""
        future: Future[T] = Future()
        thread = threading.Thread(target=lambda: _fill(future, work, task), name=name)
        task = self._begin(thread)
        future.add_done_callback(lambda ended: self._finished.emit((task, ended, done, failed)))
        thread.start()
        return task

    def follow(self, future: Future[T], done: Callable[[T], None], failed: Callable[[BaseException], None]) -> Task:
        """Call back, in the GUI thread, at the end of a `future` that others work on. Cancelling cancels it."""
        task = self._begin(None)
        task.on_cancel(lambda: _drop(future))
        future.add_done_callback(lambda ended: self._finished.emit((task, ended, done, failed)))
        return task

    def close(self) -> None:
        """Cancel all tasks and wait for their threads. Work that minds its task ends at once."""
        self._closed = True
        tasks = dict(self._tasks)
        for task in tasks:
            task.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for thread in tasks.values():
            if thread is not None:
                thread.join()
        self._tasks.clear()

    def _begin(self, thread: threading.Thread | None) -> Task:
        if self._closed:
            raise RuntimeError("the background is closed")
        task = Task()
        self._tasks[task] = thread
        return task

    @Slot(object)
    def _deliver(self, item: _Item) -> None:
        task, future, done, failed = item
        if self._closed:
            return
        self._tasks.pop(task, None)
        error = Cancelled() if task.cancelled or future.cancelled() else future.exception()
        if error is None:
            _call(done, future.result())
        else:
            _call(failed, error)


def _call(back: Callable[[T], None], told: T) -> None:
    owner = getattr(back.func if isinstance(back, partial) else back, "__self__", None)
    if not isinstance(owner, QObject) or isValid(owner):
        back(told)


def _checked(work: Callable[[Task], T], task: Task) -> T:
    task.check()
    return work(task)


def _fill(future: Future[T], work: Callable[[Task], T], task: Task) -> None:
    try:
        future.set_result(_checked(work, task))
    except BaseException as error:
        future.set_exception(error)


def _drop(future: Future[Any]) -> None:
    future.cancel()
