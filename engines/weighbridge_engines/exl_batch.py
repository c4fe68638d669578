"""Answers that one generator of an ExLlama library makes side by side: one thread owns it and takes its steps.

Whoever asks reads the results of its own job from a queue. A job is left as soon as nobody reads it any more.
"""

from __future__ import annotations

import contextlib
import os
import threading
import traceback
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from weighbridge_engines.owner import received

CARD_FAILED = 70
"""With what the process ends where the card can do nothing more for it: each further step would fail as well."""

_DEAD_CARD = ("CUDA error", "HIP error", "AcceleratorError")
_OF_MEMORY = ("out of memory", "ALLOC_FAILED")
"""The words of errors of a card after which it goes on."""

Result = Mapping[str, Any]


def is_of_memory(told: str) -> bool:
    """Whether an error, as it is `told`, is that a card is full."""
    return any(words in told for words in _OF_MEMORY)


class Loaded(Protocol):
    """A model that is loaded, with its generator."""

    generator: Any

    def close(self) -> None:
        """Give everything back."""


@dataclass
class _Order:
    """A job and where its results go: ("result", it), then ("end", None) or ("error", why)."""

    job: Any
    results: SimpleQueue[tuple[str, Any]] = field(default_factory=SimpleQueue)
    unwanted: bool = False


class Batch:
    """What `open_it` opens, on a thread of its own, on which all its steps are taken. Raises what that raises."""

    def __init__(self, open_it: Callable[[], Loaded], end: Callable[[int], object] = os._exit) -> None:
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._at_work: dict[int, _Order] = {}
        self._end = end
        opened: SimpleQueue[Loaded | BaseException] = SimpleQueue()
        self._thread = threading.Thread(target=self._own, args=(open_it, opened), name="exllama", daemon=True)
        self._thread.start()
        told = opened.get()
        if isinstance(told, BaseException):
            self._thread.join()
            raise told
        self.loaded: Any = told

    def results(self, job: Any) -> Generator[Result | None, None, None]:
        """The results of `job` until its last one; None where nothing comes for a while. Closing it leaves the job."""
        order = _Order(job)
        self._orders.put(order)
        try:
            yield from received(order.results, self._thread.is_alive)
        finally:
            order.unwanted = True

    def close(self) -> None:
        """Leave all jobs, give everything back, and wait for it."""
        self._orders.put(None)
        self._thread.join()

    # On the thread that owns the generator

    def _own(self, open_it: Callable[[], Loaded], opened: SimpleQueue[Loaded | BaseException]) -> None:
        try:
            loaded = open_it()
        except BaseException as failure:  # told to whoever opens, whatever it is
            opened.put(failure)
            return
        opened.put(loaded)
        try:
            while self._taken(loaded.generator):
                self._step(loaded.generator)
        finally:
            loaded.close()

    def _taken(self, generator: Any) -> bool:
        """Take all orders that wait, or wait for one where there is nothing to do. False at the end."""
        while True:
            try:
                order = self._orders.get(block=not self._at_work)
            except Empty:
                return True
            if order is None:
                self._leave(generator, list(self._at_work))
                return False
            if order.unwanted:
                continue
            try:
                self._at_work[generator.enqueue(order.job)] = order
            except Exception as error:  # of this job alone
                order.results.put(("error", error))

    def _step(self, generator: Any) -> None:
        """One step of all jobs that somebody still reads."""
        self._leave(generator, [serial for serial, order in self._at_work.items() if order.unwanted])
        if not self._at_work:
            return
        try:
            for result in generator.iterate():
                self._deliver(result)
            if self._at_work and not generator.num_remaining_jobs():
                raise RuntimeError("the generator has lost a job")  # or it would be asked for it for ever
        except Exception as error:  # nobody can say for which of the jobs
            self._fail(generator, error)

    def _deliver(self, result: Result) -> None:
        order = self._at_work.get(result["serial"])
        if order is None:
            return
        if result["stage"] == "error":
            order.results.put(("error", result["error"]))
        else:
            order.results.put(("result", result))
        if result["eos"]:
            order.results.put(("end", None))
            del self._at_work[result["serial"]]

    def _fail(self, generator: Any, error: Exception) -> None:
        told = f"{type(error).__name__}: {error}"
        if any(words in told for words in _DEAD_CARD) and not is_of_memory(told):
            traceback.print_exc()
            self._end(CARD_FAILED)
        for order in self._at_work.values():
            order.results.put(("error", error))
        self._leave(generator, list(self._at_work))

    def _leave(self, generator: Any, serials: list[int]) -> None:
        """By the number of a job: one that goes on in another round is another object by then."""
        for serial in serials:
            del self._at_work[serial]
            for job in (*generator.active_jobs, *generator.pending_jobs):
                if job.serial_number == serial:
                    with contextlib.suppress(Exception):  # the pages of a job that failed may be gone
                        generator.cancel(job)
