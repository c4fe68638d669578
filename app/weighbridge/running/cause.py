"""Why an engine process ended: its own words first, then the way it ended. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from weighbridge.base.errors import EngineFailed
from weighbridge.running.installing import command_for
from weighbridge.running.launcher import CANNOT_START
from weighbridge_engines.api import HOST, Cause, Engine

LOG_TAIL = 30
_SHOWN = 300
_TO_INSTALL = frozenset({"engine.not_installed", "engine.not_loadable"})
_IMPORT = re.compile(r"(?:ImportError|ModuleNotFoundError): (.+)")
"""The last line of a worker that could not import its library: a build for another Python, or an older system."""

_EXTENSIONS = {
    "AVX": "AVX",
    "AVX2": "AVX2",
    "F16C": "F16C",
    "FMA": "FMA",
    "BMI2": "BMI2",
    "AVX_VNNI": "AVX-VNNI",
    "AVX512": "AVX-512F",
    "AVX512_VBMI": "AVX-512VBMI",
    "AVX512_VNNI": "AVX-512VNNI",
    "AVX512_BF16": "AVX-512BF16",
    "AMX": "AMX",
    "AMX_INT8": "AMX",
    "NEON": "NEON",
    "FP16_VA": "FP16",
    "MATMUL_INT8": "I8MM",
    "DOTPROD": "DotProd",
    "SVE": "SVE",
    "SME": "SME",
}
"""Engines' names of instructions, and those of `hardware.cpu`."""

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
    found = engine.diagnose(log, exit_code) or _by_log(log) or _by_exit(exit_code)
    cause = _with_numbers(_with_extensions(found, extensions))
    values = {**cause.values, "engine": engine.title, "exit_code": exit_code}
    if cause.code in _TO_INSTALL:
        values["install"] = command_for(engine, anew=cause.code == "engine.not_loadable")
    return EngineFailed(cause.code, tuple(log[-LOG_TAIL:]), **values)


def _with_numbers(cause: Cause) -> Cause:
    """Memory that ran out, told with its numbers where the engine told them."""
    device, needed_bytes = cause.values.get("device"), cause.values.get("needed_bytes")
    if cause.code != "engine.out_of_memory" or not device or needed_bytes is None:
        return cause
    return Cause("engine.memory_refused" if device == HOST else "engine.card_memory_refused", cause.values)


def _with_extensions(cause: Cause, extensions: Sequence[str]) -> Cause:
    """An instruction that is unknown, told with its name where the build says what it uses and the processor what it
    has.
    """
    if cause.code != "engine.illegal_instruction":
        return cause
    values = {**cause.values, "extensions": shown_extensions(extensions)}
    built_with = cause.values.get("built_with")
    used = [_EXTENSIONS[name] for name in built_with if name in _EXTENSIONS] if isinstance(built_with, tuple) else []
    missing = [name for name in dict.fromkeys(used) if name not in extensions]
    if not extensions or not missing:
        return Cause(cause.code, values)
    return Cause("engine.instruction_missing", {**values, "missing": ", ".join(missing)})


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
