"""Work that may be held for seconds, by a sick driver for instance, and that nobody who closes the window waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from weighbridge.base.task import Task

T = TypeVar("T")
_LOOK_S = 0.05


def impatient(work: Callable[[], T], task: Task, name: str) -> T:
    """What `work` gives or raises. Raises Cancelled soon after `task` is, and then the work goes on, unheard."""
    future: Future[T] = Future()
    threading.Thread(target=_fill, args=(future, work), name=name, daemon=True).start()
    while not wait([future], _LOOK_S).done:
        task.check()
    return future.result()


def _fill(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
