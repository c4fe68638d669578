"""What a load by an ExLlama library tells, line by line. Pure but for `say`.

The libraries print little: what is told of a load is said here, in lines that `report` reads again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from weighbridge_engines.api import Cause
from weighbridge_engines.session_log import print_line

_MARK = "exl: "
PROBLEM = "problem"
Value = int | float | str | bool


def say(name: str, value: object) -> None:
    """One line of the log that `report` reads: an effective value, or a stage of the load."""
    print_line(f"{_MARK}{name} = {value}")


def say_problem(cause: Cause) -> None:
    """Why nothing will come of it, for `diagnose`."""
    say(PROBLEM, json.dumps({"code": cause.code, "values": dict(cause.values)}))


def problem(line: str) -> Cause | None:
    """What `say_problem` said; None for any other line."""
    if not line.startswith(f"{_MARK}{PROBLEM} = "):
        return None
    try:
        told = json.loads(line.partition(" = ")[2])
        return Cause(told["code"], dict(told["values"]))
    except (ValueError, KeyError, TypeError):  # a library's own words, by chance
        return None


def say_step(what: str, done: int, total: int) -> None:
    """How far a stage is."""
    say(what, f"{done} of {total} ({100 * done // total if total else 100} %)")


_WHOLE = ("context", "slot_context", "slots", "batch", "cpu_experts", "draft_tokens", "prompt_cache_mib")
_WORDS = ("key_type", "value_type", "split_mode", "draft", "draft_kind", "adapters", "stage")
_SWITCHES = ("flash_attention", "unified", "whole_window")
_LINE = re.compile(rf"{_MARK}(?P<name>\w+) = (?P<value>.+)")
_STEP = re.compile(r"(?P<done>\d+) of (?P<total>\d+)")
_MEMORY = re.compile(r"(?P<device>\S+) weights (?P<weights>\d+) cache (?P<cache>\d+)")
_NINJA = re.compile(r"\[(?P<done>\d+)/(?P<total>\d+)\] ")
_STAGES = {"kernels": "kernels", "modules": "weights", "warm_up": "warming"}


def report(line: str) -> Mapping[str, Value]:
    """Effective values, the stage, and how far that is: "done" of "total" modules, passes or files to compile."""
    if found := _NINJA.match(line):
        return {"stage": _STAGES["kernels"], "done": int(found["done"]), "total": int(found["total"])}
    told = _LINE.fullmatch(line.rstrip())
    return {} if told is None else _told(told["name"], told["value"])


def _told(name: str, value: str) -> Mapping[str, Value]:
    if name in _STAGES and (step := _STEP.match(value)):
        return {"stage": _STAGES[name], "done": int(step["done"]), "total": int(step["total"])}
    if name == "memory" and (memory := _MEMORY.fullmatch(value)):
        sizes = {"weights_bytes": int(memory["weights"]), "kv_bytes": int(memory["cache"])}
        return {**sizes, "device": memory["device"]}
    if name in _WHOLE and value.isdecimal():
        return {name: int(value)}
    if name in _SWITCHES:
        return {name: value == "True"}
    return {name: value} if name in _WORDS else {}
