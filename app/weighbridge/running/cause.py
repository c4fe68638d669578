"""Why an engine process ended: its own words first, then the way it ended. Pure."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from weighbridge.base.errors import EngineFailed
from weighbridge.running.launcher import CANNOT_START
from weighbridge_engines.api import Cause, Engine

LOG_TAIL = 30

_BY_SIGNAL = {
    signal.SIGILL: "engine.illegal_instruction",
    signal.SIGKILL: "engine.killed",
    signal.SIGSEGV: "engine.crashed",
    signal.SIGABRT: "engine.crashed",
    getattr(signal, "SIGBUS", None): "engine.file_changed",
}


def failure(engine: Engine, log: Sequence[str], exit_code: int) -> EngineFailed:
    """The error for an engine that ended by itself with `exit_code` (negative: the signal)."""
    cause = engine.diagnose(log, exit_code) or _by_log(log) or _by_exit(exit_code)
    values = {**cause.values, "engine": engine.title, "exit_code": exit_code}
    return EngineFailed(cause.code, tuple(log[-LOG_TAIL:]), **values)


def _by_log(log: Sequence[str]) -> Cause | None:
    if any("Address already in use" in line for line in log):
        return Cause("engine.port_taken")
    return None


def _by_exit(exit_code: int) -> Cause:
    if exit_code == CANNOT_START:
        return Cause("engine.cannot_start")
    if exit_code < 0:
        name = signal.Signals(-exit_code).name if -exit_code in set(signal.Signals) else str(-exit_code)
        return Cause(_BY_SIGNAL.get(signal.Signals(-exit_code), "engine.crashed"), {"signal": name})
    return Cause("engine.ended")
