"""The machine's memories, sampled off the GUI thread while somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from weighbridge.base.task import Task
from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.hardware.machine import Device, Machine, MemoryKind
from weighbridge.running.state import Running
from weighbridge.ui.background import Background
from weighbridge.ui.impatient import impatient
from weighbridge.ui.memory_parts import Memory, Part

EVERY_MS, CLOSELY_MS = 2_000, 1_000
_CARDS_EACH, _CARDS_EACH_CLOSELY = 5, 2
"""Cards are asked with each such sample: those of NVIDIA are asked by a child process."""

_KIND_OF_BUFFER: Mapping[str, str] = {
    "weights_bytes": "weights",
    "projector_bytes": "weights",
    "kv_bytes": "kv",
    "state_bytes": "state",
    "compute_bytes": "compute",
    "output_bytes": "compute",
}


@dataclass(frozen=True)
class Sample:
    """The machine at one moment, the bytes of each engine that no file on the disk backs, by model id, and the
    processor's load since the sample before, 0 to 1.
    """

    machine: Machine
    private_bytes: Mapping[str, int]
    cpu_load: float | None = None


class Sampler:
    """The machine: found once, and then looked at again, its memory each time and its cards less often.

    `again(machine, with_cards)` gives the machine as it is now, without looking for anything new.
    """

    def __init__(self, detect: Callable[[], Machine], again: Callable[[Machine, bool], Machine]) -> None:
        self._detect = detect
        self._again = again
        self._machine: Machine | None = None
        self._since_cards = 0

    def sample(self, task: Task, closely: bool = False) -> Machine:
        """The machine now. Raises Cancelled, at once, where `task` is cancelled: a sick driver may hold a look."""
        known = self._machine
        if known is None:
            self._machine = impatient(self._detect, task, "detect")
            return self._machine
        self._since_cards += 1
        with_cards = self._since_cards >= (_CARDS_EACH_CLOSELY if closely else _CARDS_EACH)
        if with_cards:
            self._since_cards = 0
            self._machine = impatient(lambda: self._again(known, True), task, "look again")
        else:
            self._machine = self._again(known, False)
        return self._machine


class MemoryWatch(QObject):
    """Samples every two seconds between `start` and `stop`, and when it is asked to; each second on a close look.

    `sampler`, `running()` and `load()` are called from other threads; `complete(machine)` adds what else is known of
    the machine. `changed` is emitted in the GUI thread.
    """

    changed = Signal()

    def __init__(
        self,
        sampler: Sampler,
        running: Callable[[], tuple[Running, ...]],
        background: Background,
        parent: QObject | None = None,
        load: Callable[[], float | None] = lambda: None,
        complete: Callable[[Machine], Machine] = lambda machine: machine,
    ) -> None:
        super().__init__(parent)
        self._load = load
        self._complete = complete
        self._closely = False
        self.cpu_load: float | None = None
        self._sampler = sampler
        self._running = running
        self._background = background
        self._task: Task | None = None
        self.machine: Machine | None = None
        self.memories: tuple[Memory, ...] = ()
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.sample)

    @property
    def total_bytes(self) -> int | None:
        """The system's memory; None until known."""
        return self.machine.memory.total_bytes if self.machine else None

    def start(self) -> None:
        """Sample now and from now on."""
        self._timer.start()
        self.sample()

    def stop(self) -> None:
        """No more samples."""
        self._timer.stop()
        if self._task is not None:
            self._task.cancel()

    def look_closely(self, closely: bool) -> None:
        """Sample each second, or at the usual pace again."""
        self._closely = closely
        self._timer.setInterval(CLOSELY_MS if closely else EVERY_MS)

    def sample(self) -> None:
        """Sample once, unless that is going on."""
        if self._task is None and self._timer.isActive():
            self._task = self._background.run(self._look, self._seen, self._failed)

    def _look(self, task: Task) -> Sample:
        private = {one.model_id: one.private_bytes or 0 for one in self._running()}
        return Sample(self._sampler.sample(task, self._closely), private, self._load())

    def _seen(self, sample: Sample) -> None:
        self._task = None
        self.machine = self._complete(sample.machine)
        self.cpu_load = sample.cpu_load
        self.memories = memories(sample, self._running())
        self.changed.emit()

    def _failed(self, error: BaseException) -> None:
        self._task = None
        del error  # probes report by `problems`; a cancel is no news


def memories(sample: Sample, running: Sequence[Running]) -> tuple[Memory, ...]:
    """The system's memory with ours by model, then each card with memory of its own."""
    found = [_card(device) for device in sample.machine.devices]
    return tuple(memory for memory in (_system(sample, running), *found) if memory is not None)


def parts_of(running: Running) -> tuple[Part, ...]:
    """What an engine takes, by kind: as it said itself, and the rest of its resident memory as "engine"."""
    sums: dict[str, int] = {}
    for name, value in running.buffers.items():
        kind = _KIND_OF_BUFFER.get(name)
        if kind is not None:
            sums[kind] = sums.get(kind, 0) + value
    resident = running.memory_bytes
    if resident is None:
        return tuple(Part(kind, value, running.title) for kind, value in sums.items())
    told = sum(sums.values())
    if told > resident:  # it reserves more than it has touched so far
        sums = {kind: value * resident // told for kind, value in sums.items()}
    sums["engine"] = resident - sum(sums.values())
    return tuple(Part(kind, value, running.title) for kind, value in sums.items())


def told_in_words(running: Running) -> str:
    """Where the parts of a running engine come from."""
    if running.memory_bytes is None:
        return text("Told by the engine, as it allocated them.")
    return text(
        "The engine holds {resident} of memory, measured; the parts are as it told, the rest is its own.",
        resident=size(running.memory_bytes),
    )


def _system(sample: Sample, running: Sequence[Running]) -> Memory | None:
    memory = sample.machine.memory
    if memory.total_bytes is None:
        return None
    ours = [part for one in running for part in parts_of(one)]
    if memory.available_bytes is not None:
        # Pages of a mapped file count as available, so only what no file backs is taken out of what is used.
        used = memory.total_bytes - memory.available_bytes - sum(sample.private_bytes.values())
        ours.append(Part("others", max(0, used)))
    return Memory(text("RAM"), memory.total_bytes, tuple(ours))


def _card(device: Device) -> Memory | None:
    memory = device.memory
    if memory.kind is not MemoryKind.DEDICATED or memory.total_bytes is None:
        return None
    whole = Memory(device.name, memory.total_bytes, of_card=True)
    if memory.available_bytes is None:
        return whole
    used = Part("others", memory.total_bytes - memory.available_bytes, named=text("In use"))
    return replace(whole, parts=(used,))
