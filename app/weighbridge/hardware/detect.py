"""Looking at the whole machine: in parallel, for a limited time, and never with an error."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from weighbridge.hardware.bandwidth import Table, load_table
from weighbridge.hardware.cpu import detect_cpu
from weighbridge.hardware.machine import Cpu, Machine, Memory, MemoryKind
from weighbridge.hardware.memory import detect_memory
from weighbridge.hardware.nvidia_child import LIMIT_S, Found, find_cards
from weighbridge_engines.api import Cause

OWN_S = 3.0
"""For what the system tells by itself."""
T = TypeVar("T")


def detect() -> Machine:
    """This machine, as far as it tells. Takes well under a second as a rule and nine at most; never raises."""
    cpu = _Probe("cpu", detect_cpu, Cpu(None, None, None, None), OWN_S)
    memory = _Probe("memory", detect_memory, Memory(MemoryKind.SHARED, None, None), OWN_S)
    table = _Probe("bandwidth", load_table, Table(()), OWN_S)
    cards = _Probe("nvidia", lambda: find_cards(memory.answer(), table.answer()), Found(), OWN_S + LIMIT_S + 1)
    found = cards.answer()
    failed = [fault for each in (cpu, memory, table, cards) if (fault := each.fault()) is not None]
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}".strip(),
        cpu=cpu.answer(),
        memory=memory.answer(),
        devices=found.devices,
        problems=(*failed, *found.problems),
    )


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
