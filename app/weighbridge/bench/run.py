"""Carries a plan out: loads, asks, measures, ends. What fails is a column that says why; the others go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeVar

from weighbridge.base.errors import EngineFailed, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.bench.following import Following
from weighbridge.bench.hearing import Hearing
from weighbridge.bench.plan import Act, Entry, Plan, Step, body, steps
from weighbridge.bench.resident import held_by
from weighbridge.bench.result import Column, Held, Runtime, Subject, Turn
from weighbridge.chat.client import ChatClient
from weighbridge.chat.meter import Reading
from weighbridge.library.model import Model
from weighbridge.running.company import Company, Watch
from weighbridge.running.state import Running
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import HOST, Engine

_LOOK_S = 0.1
T = TypeVar("T")

Attend = Callable[[Model, Callable[[], Reading | None]], AbstractContextManager[None]]


@dataclass(frozen=True)
class Around:
    """What a run needs of those around it: `attend` is entered while a model answers, and keeps its speed; `told` hears
    of each step as it begins.
    """

    attend: Attend
    told: Callable[[Step], None]


class _Work:
    """One entry while it is measured. Owned by the thread that runs the plan."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.column = Column(
            entry.name,
            subject_of(entry.model, entry.model_id),
            None if entry.engine is None else runtime_of(entry.engine),
            threads=entry.load.threads,
            error=entry.refused,
        )
        self.following: Following | None = None
        self.ended = False

    def change(self, **changes: object) -> None:
        """Fields of the column."""
        self.column = replace(self.column, **changes)  # type: ignore[arg-type] # fields by name


class Bench:
    """Runs `plan` once, on the caller's thread. `columns` are what is known by then, also after it was broken off."""

    def __init__(self, supervisor: Supervisor, client: ChatClient, plan: Plan, around: Around) -> None:
        self._supervisor = supervisor
        self._client = client
        self._plan = plan
        self._around = around
        self._work = [_Work(entry) for entry in plan.entries]

    @property
    def columns(self) -> tuple[Column, ...]:
        """One for each entry of the plan."""
        return tuple(replace(work.column, left_out=not self._is_over(work)) for work in self._work)

    def run(self, task: Task) -> None:
        """Do all of it. Raises Cancelled where `task` is; then what is loaded stays the supervisor's to end."""
        try:
            for step in steps(self._plan):
                work = self._work[step.entry]
                if work.column.error is None or (step.act is Act.END and work.following is not None):
                    task.check()
                    self._around.told(step)
                    self._do(step, work, task)
        finally:
            for work in self._work:
                if work.following is not None:
                    work.following.end()

    def _is_over(self, work: _Work) -> bool:
        return work.ended or work.column.error is not None or len(work.column.turns) == self._plan.turns

    def _do(self, step: Step, work: _Work, task: Task) -> None:
        try:
            if step.act is Act.LOAD:
                self._load(work, task)
            elif step.act is Act.END:
                self._end(work, task)
            else:
                self._ask(step, work, task)
        except WeighbridgeError as error:
            work.change(error=error)

    def _load(self, work: _Work, task: Task) -> None:
        model = work.entry.model
        work.following = Following(self._supervisor, model.id)
        ready = _result(self._supervisor.load(model, work.entry.load), task)
        self._supervisor.pin(model.id, True)
        load_ms = None if model.remote else work.following.load_ms(ready)  # nothing is loaded for what others run
        work.change(load_ms=load_ms, settings=ready.settings, held=_held(ready, work.following))

    def _ask(self, step: Step, work: _Work, task: Task) -> None:
        turn, company = self._answer(step, work, task)
        if step.act is Act.ASK:
            work.change(turns=(*work.column.turns, turn))
        assert work.following is not None
        running = work.following.running if company is None else company.running
        if running is not None:
            work.change(settings=running.settings, held=_held(running, work.following))

    def _answer(self, step: Step, work: _Work, task: Task) -> tuple[Turn, Company | None]:
        entry = work.entry
        with _result(self._supervisor.lease(entry.model, entry.load), task) as lease:
            watch = Watch(self._supervisor, entry.model.id)
            try:
                hearing = Hearing(time.monotonic)
                kept: Callable[[], Reading | None] = lambda: hearing.reading if step.act is Act.ASK else None  # noqa: E731
                with self._around.attend(entry.model, kept):
                    self._client.stream(lease, body(self._plan, entry, step), hearing.take, task)
            finally:
                company = watch.end()
        if hearing.fault is not None:
            assert work.following is not None
            fault = hearing.fault
            raise work.following.failure() or EngineFailed(fault.code, message=fault.message)
        return hearing.turn(step.turn, company), company

    def _end(self, work: _Work, task: Task) -> None:
        if work.following is not None:
            self._supervisor.pin(work.entry.model.id, False)
            _result(self._supervisor.stop(work.entry.model.id), task)
        work.ended = True


def subject_of(model: Model, model_id: str = "") -> Subject:
    """What its files say of a model; `model_id` is its name, where it bears another one here."""
    info = model.info
    parameters = info.parameters if info else None
    bits = info.bits_per_weight if info else None
    return Subject(
        model_id=model_id or model.id,
        path=model.path,
        format=model.format,
        quant=model.quant,
        size_bytes=None if model.remote else model.size_bytes,
        bits_per_weight=bits or (model.size_bytes * 8 / parameters if parameters and model.size_bytes else None),
        parameters=parameters,
        architecture=info.architecture if info else None,
        active_parameters=info.active_parameters if info and info.experts else None,
        endpoint=model.remote.endpoint if model.remote else None,
    )


def runtime_of(engine: Engine) -> Runtime:
    """What an engine says of itself. It may look into its package for that."""
    return Runtime(engine.id, engine.title, engine.version(), engine.build)


def _held(running: Running, following: Following) -> Held:
    """Where the system knows no peak, it is the most that was seen."""
    told = held_by(running.pid)
    devices = {device: sum(sums.values()) for device, sums in running.held.items() if device != HOST}
    seen = told.peak_bytes is None
    peak_bytes = following.most_bytes if seen else told.peak_bytes
    return replace(told, peak_bytes=peak_bytes, peak_seen=seen, on_devices=devices)


def _result(future: Future[T], task: Task) -> T:
    """Wait for it; a cancel leaves the queue."""
    while True:
        try:
            return future.result(_LOOK_S)
        except NotYet:
            if task.cancelled:
                future.cancel()
            task.check()
