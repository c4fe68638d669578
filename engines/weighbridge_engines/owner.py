"""A session that one thread owns: it opens it, asks it, closes it. Libraries keep things by thread, and break else.

Whoever asks reads what comes through a queue, so that the next token is computed while the last is sent.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from weighbridge_engines.api import SILENCE, Chunk, Request, ScoringSession, Session

LOOK_S = 0.1
"""How long nothing may come before whoever asks is given a chance to see that nobody listens any more."""

Open = Callable[[], Session]


def received(results: SimpleQueue[tuple[str, Any]], lives: Callable[[], bool]) -> Generator[Any, None, None]:
    """What an owner puts into `results`, each with its kind, until its ("end", None); None where nothing comes for a
    while. Raises the value of an ("error", why), and RuntimeError where the owner no longer `lives`.
    """
    while True:
        try:
            kind, value = results.get(timeout=LOOK_S)
        except Empty:
            if not lives():
                raise RuntimeError("the session is closed") from None
            yield None
            continue
        if kind == "error":
            raise value
        if kind == "end":
            return
        yield value


class _Job:
    """Work for the owner: what it makes goes to `results` as ("value", it), then ("end", None) or ("error", why)."""

    def __init__(self, make: Callable[[Session], Iterator[Any]]) -> None:
        self.make = make
        self.results: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self.unwanted = threading.Event()


class OwnedSession:
    """What `open_it` opens, on a thread of its own. Raises what that raises. Jobs wait for each other, in order."""

    def __init__(self, open_it: Open, name: str = "session") -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._opened: SimpleQueue[BaseException | None] = SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._own, args=(open_it,), name=name, daemon=True)
        self._thread.start()
        failure = self._opened.get()
        if failure is not None:
            self._thread.join()
            raise failure

    def stream(self, request: Request) -> Iterator[Chunk]:
        """As the session's own, with SILENCE where nothing comes for a while."""
        return self._asked(lambda session: session.stream(request), SILENCE)

    def tokens(self, text: str) -> Sequence[int]:
        """As the session's own."""
        (found,) = self._asked(lambda session: iter([_scoring(session).tokens(text)]))
        told: Sequence[int] = found
        return told

    def score(self, tokens: Sequence[int]) -> Iterator[Sequence[float | None]]:
        """As the session's own, with an empty part where nothing comes for a while."""
        return self._asked(lambda session: _scoring(session).score(tokens), ())

    def close(self) -> None:
        """End what is at work, close the session, and wait for it."""
        self._closing.set()
        self._jobs.put(None)
        self._thread.join()

    def _asked(self, make: Callable[[Session], Iterator[Any]], silence: Any = None) -> Generator[Any, None, None]:
        job = _Job(make)
        self._jobs.put(job)
        try:
            for value in received(job.results, self._thread.is_alive):
                if value is not None:
                    yield value
                elif silence is not None:
                    yield silence
        finally:
            job.unwanted.set()

    def _own(self, open_it: Open) -> None:
        try:
            session = open_it()
        except BaseException as error:  # whatever it is, it is raised where the session was asked for
            self._opened.put(error)
            return
        self._opened.put(None)
        while (job := self._jobs.get()) is not None:
            self._work(session, job)
        session.close()

    def _work(self, session: Session, job: _Job) -> None:
        try:
            with contextlib.closing(_closable(job.make(session))) as values:
                for value in values:
                    job.results.put(("value", value))
                    if job.unwanted.is_set():
                        break
                    if self._closing.is_set():
                        raise RuntimeError("the session was closed amid an answer")
        except Exception as error:  # the asker's to tell
            job.results.put(("error", error))
        else:
            job.results.put(("end", None))


def _closable(values: Iterator[Any]) -> Generator[Any, None, None]:
    """What can be closed, which closes `values` where they can be."""
    if isinstance(values, Generator):
        return values
    return (value for value in values)


def _scoring(session: Any) -> ScoringSession:
    scoring: ScoringSession = session
    return scoring
