"""Looking at the whole machine: in parallel, for a limited time, and never with an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from weighbridge.hardware.amd import find_amd
from weighbridge.hardware.apple import find_apple
from weighbridge.hardware.bandwidth import Table, load_table
from weighbridge.hardware.cpu import detect_cpu
from weighbridge.hardware.host import Host, ThisHost
from weighbridge.hardware.intel import find_intel
from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Found, Machine, Memory, MemoryKind
from weighbridge.hardware.memory import detect_memory
from weighbridge.hardware.merge import merged
from weighbridge.hardware.nvidia_child import LIMIT_S, find_nvidia
from weighbridge.hardware.surroundings import within
from weighbridge.hardware.windows import find_adapters, has_nvidia
from weighbridge_engines.api import Cause

OWN_S = 3.0
"""For what the system tells by itself."""
CARDS_S = OWN_S + LIMIT_S + 1
"""For what programs of the makers tell."""
MAKERS: tuple[tuple[str, Callable[[Host, Memory, Table], Found]], ...] = (
    ("nvidia", find_nvidia),
    ("amd", find_amd),
    ("intel", find_intel),
    ("apple", find_apple),
    ("windows", find_adapters),
)
"""The probes of cards, the most trusted first."""
T = TypeVar("T")


def detect(host: Host | None = None) -> Machine:
    """A machine, as far as it tells: this one, unless another answers.

    Takes well under a second as a rule and nine at most; never raises.
    """
    asked: Host = host or ThisHost()
    cpu = _Probe("cpu", lambda: detect_cpu(asked), Cpu(None, None, None, None), OWN_S)
    memory = _Probe("memory", lambda: detect_memory(asked), Memory(MemoryKind.SHARED, None, None), OWN_S)
    table = _Probe("bandwidth", load_table, Table(()), OWN_S)
    around = _Probe[tuple[str, ...]]("surroundings", lambda: within(asked), (), OWN_S)

    def look(find: Callable[[Host, Memory, Table], Found]) -> Callable[[], Found]:
        return lambda: find(asked, memory.answer(), table.answer())

    makers = [_Probe(what, look(find), Found(), CARDS_S) for what, find in MAKERS]
    found = [probe.answer() for probe in makers]
    probes: tuple[_Probe[Any], ...] = (cpu, memory, table, around, *makers)
    faults = [fault for probe in probes if (fault := probe.fault()) is not None]
    devices = merged(one.devices for one in found)
    told = _worth_telling(asked, devices, [cause for one in found for cause in one.problems])
    why_none = [*told, *(probe.fault() for probe in makers if probe.fault())]
    return Machine(
        system=f"{asked.system} {asked.release} {asked.architecture}".strip(),
        cpu=cpu.answer(),
        memory=memory.answer(),
        devices=devices,
        problems=(*faults, *told, *_notes(around.answer(), memory.answer(), bool(devices or why_none))),
        bandwidth=_memory_bandwidth(cpu.answer(), devices, table.answer()),
        within=around.answer(),
    )


def _worth_telling(host: Host, devices: tuple[Device, ...], causes: list[Cause]) -> list[Cause]:
    """On Windows NVIDIA's library is missing for a reason where there is no card of NVIDIA."""
    if host.system != "Windows" or has_nvidia(host):
        return causes
    return [cause for cause in causes if cause.code != "nvidia.library_missing"]


def _notes(around: tuple[str, ...], memory: Memory, cards_told: bool) -> list[Cause]:
    """What is no fault but worth knowing. Where it is told why a card is not used, "no card" would be untrue."""
    notes = [] if cards_told else [Cause("hardware.no_card")]
    if "wsl" in around and memory.total_bytes is not None:
        notes.append(Cause("hardware.wsl_memory", {"total_gib": round(memory.total_bytes / (1 << 30))}))
    return notes


def _memory_bandwidth(cpu: Cpu, devices: tuple[Device, ...], table: Table) -> Bandwidth | None:
    """The system memory's, where the processor's name tells it: a board with memory of one kind, or a chip's own."""
    name = (cpu.name or "").partition(" Model ")[0]
    shared = next((device.bandwidth for device in devices if device.memory.kind is MemoryKind.UNIFIED), None)
    return shared or (table.of(name) if name else None)


class _Probe(Generic[T]):
    """One question on a thread of its own. Without an answer in `limit_s`, `missing` stands in."""

    def __init__(self, what: str, ask: Callable[[], T], missing: T, limit_s: float) -> None:
        self._error: str | None = None
        self._what = what
        self._answer = missing
        self._limit_s = limit_s
        self._until = time.monotonic() + limit_s
        self._thread = threading.Thread(target=self._run, args=(ask,), name=f"probe {what}", daemon=True)
        self._thread.start()

    def answer(self) -> T:
        """The answer, waited for until the question's time is over."""
        self._thread.join(max(0.0, self._until - time.monotonic()))
        return self._answer

    def fault(self) -> Cause | None:
        """Why there is no answer, or None where there is one."""
        self.answer()
        if self._error is not None:
            return Cause("hardware.probe_failed", {"what": self._what, "reason": self._error})
        if self._thread.is_alive():
            return Cause("hardware.probe_slow", {"what": self._what, "limit_s": int(self._limit_s)})
        return None

    def _run(self, ask: Callable[[], T]) -> None:
        try:
            self._answer = ask()
        except Exception as error:
            self._error = str(error) or type(error).__name__
