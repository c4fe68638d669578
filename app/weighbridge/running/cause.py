"""Why an engine process ended: its own words first, then the way it ended. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from weighbridge.base.errors import EngineFailed
from weighbridge.running.installing import command_for
from weighbridge.running.launcher import CANNOT_START
from weighbridge_engines.api import Cause, Engine

LOG_TAIL = 30
_SHOWN = 300
_TO_INSTALL = frozenset({"engine.not_installed", "engine.not_loadable"})
_IMPORT = re.compile(r"(?:ImportError|ModuleNotFoundError): (.+)")
"""The last line of a worker that could not import its library: a build for another Python, or an older system."""

_BY_SIGNAL = {
    signal.SIGILL: "engine.illegal_instruction",
    signal.SIGKILL: "engine.killed",
    signal.SIGSEGV: "engine.crashed",
    signal.SIGABRT: "engine.crashed",
    getattr(signal, "SIGBUS", None): "engine.file_changed",
}


def failure(engine: Engine, log: Sequence[str], exit_code: int, extensions: Sequence[str]) -> EngineFailed:
    """The error for an engine that ended by itself with `exit_code` (negative: the signal).

    `extensions` are the instructions that the processor has.
    """
    cause = engine.diagnose(log, exit_code) or _by_log(log) or _by_exit(exit_code)
    values = {**cause.values, "engine": engine.title, "exit_code": exit_code}
    if cause.code == "engine.illegal_instruction":
        values["extensions"] = shown_extensions(extensions)
    if cause.code in _TO_INSTALL:
        values["install"] = command_for(engine, anew=cause.code == "engine.not_loadable")
    return EngineFailed(cause.code, tuple(log[-LOG_TAIL:]), **values)


def shown_extensions(extensions: Sequence[str]) -> str:
    """As in the words for an engine that used one which is not among them."""
    return " ".join(extensions) or "-"


def _by_log(log: Sequence[str]) -> Cause | None:
    if any("Address already in use" in line for line in log):
        return Cause("engine.port_taken")
    if match := _IMPORT.fullmatch(log[-1] if log else ""):
        return Cause("engine.not_loadable", {"reason": match[1][:_SHOWN]})
    return None


def _by_exit(exit_code: int) -> Cause:
    if exit_code == CANNOT_START:
        return Cause("engine.cannot_start")
    if exit_code < 0:
        name = signal.Signals(-exit_code).name if -exit_code in set(signal.Signals) else str(-exit_code)
        return Cause(_BY_SIGNAL.get(signal.Signals(-exit_code), "engine.crashed"), {"signal": name})
    return Cause("engine.ended")
