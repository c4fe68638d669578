"""Stands in for the core where a test of the window needs to decide what it does."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

from weighbridge.hardware.machine import Cpu, Machine, Memory, MemoryKind
from weighbridge.hub.snapshot import Snapshot
from weighbridge.running.state import Running, Setting, State
from weighbridge_engines.api import Load

GIB = 1 << 30


def machine(**changes):
    """A small machine without cards."""
    made = Machine(
        system="Linux 6.1 x86_64",
        cpu=Cpu("Test CPU", 2, 4, 3, ("AVX2",)),
        memory=Memory(MemoryKind.SHARED, 16 * GIB, 12 * GIB),
    )
    return replace(made, **changes)


def running(model_id="Qwen3-0.6B-Q8_0", state=State.READY, **changes):
    """An engine process of that model."""
    settings = (Setting("context", 4096, 4096), Setting("threads", None, 3))
    made = Running(model_id, model_id, "echo", state, Load(model_id), settings, url="http://127.0.0.1:1/v1")
    return replace(made, **changes)


class FakeSupervisor:
    """Keeps what it was asked; a test says what runs."""

    def __init__(self):
        self.loads = []
        self.made = []
        self.stops = []
        self.endings = []
        self.contexts = []
        self.idle_limits = []
        self.now = ()
        self.futures = []
        self.listeners = []
        self.pins = []
        self.ends = ()
        self.places = {}

    def default_load(self, model):
        return Load(str(model.path), context=self.contexts[-1] if self.contexts else 4096)

    def plain_load(self, model):
        return self.default_load(model)

    def use_context(self, context):
        self.contexts.append(context)

    def use_idle_limit(self, idle_s):
        self.idle_limits.append(idle_s)

    def load(self, model, load):
        self.loads.append((model.id, load.context))
        self.made.append(load)
        self.futures.append(Future())
        return self.futures[-1]

    def would_end(self, model, load):
        future = Future()
        future.set_result(self.ends)
        return future

    def position(self, future):
        return self.places.get(id(future))

    def pin(self, model_id, pinned):
        self.pins.append((model_id, pinned))

    def lease(self, model, load=None):
        return Future()

    def stop(self, model_id):
        self.stops.append(model_id)
        self.endings.append(Future())
        return self.endings[-1]

    def running(self):
        return self.now

    def log(self, model_id):
        return ()

    def subscribe(self, listener):
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def become(self, bus, *now):
        """From now on `now` runs."""
        self.now = now
        bus.running_changed.emit()


class FakeJobs:
    """A queue that fetches nothing: keeps what it was asked, shows what a test puts into it."""

    def __init__(self):
        self.now = Snapshot(owner=True)
        self.asked = []
        self.refuses = None
        self.listeners = []

    def snapshot(self):
        return self.now

    def subscribe(self, listener):
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def become(self, *jobs, owner=True):
        """From now on these are the jobs."""
        self.now = Snapshot(jobs, owner)
        for listener in tuple(self.listeners):
            listener(self.now)

    def add(self, job):
        self._asked("add", job)
        return 7

    def pause(self, job_id):
        self._asked("pause", job_id)

    def resume(self, job_id):
        self._asked("resume", job_id)

    def retry(self, job_id):
        self._asked("retry", job_id)

    def cancel(self, job_id):
        self._asked("cancel", job_id)

    def forget(self, job_id):
        self._asked("forget", job_id)

    def move(self, job_id, index):
        self._asked("move", job_id, index)

    def _asked(self, *what):
        if self.refuses is not None:
            raise self.refuses
        self.asked.append(what)


class FakePort:
    """Opens on the wanted port, or the next one where that is "taken", or fails."""

    def __init__(self, taken=(), error=None):
        self.taken = taken
        self.error = error
        self.stopped = False

    def start(self, port, *, next_free):
        assert next_free
        if self.error is not None:
            raise self.error
        while port in self.taken:
            port += 1
        return f"http://127.0.0.1:{port}"

    def stop(self):
        self.stopped = True
