"""Keeping people out of what is passed on: user names, host names, paths with them, and numbers of single devices."""

from __future__ import annotations

import getpass
import platform
import re
from collections.abc import Iterable
from dataclasses import replace

from weighbridge.hardware.machine import Machine
from weighbridge_engines.api import Cause

_HOMES = re.compile(r"((?:/home|/Users|[A-Za-z]:\\Users|/var/home|/run/user)[/\\])[^/\\\s'\":;,)]+")
_NUMBERS = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_LEFT_OUT = "..."


def names_here() -> tuple[str, ...]:
    """The user's and the machine's; a system without a list of users has no name for ours."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    return user, platform.node()


def cleaned(text: str, names: Iterable[str]) -> str:
    """`text` without the names of people's folders, the `names` as whole words, and UUIDs."""
    text = _NUMBERS.sub(_LEFT_OUT, _HOMES.sub(rf"\1{_LEFT_OUT}", text))
    for name in filter(None, names):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _LEFT_OUT, text)
    return text


def cleaned_cause(cause: Cause, names: Iterable[str]) -> Cause:
    """A cause whose texts are `cleaned`: they come from drivers and systems, and may quote anything."""
    known = tuple(names)
    values = {key: cleaned(value, known) if isinstance(value, str) else value for key, value in cause.values.items()}
    return replace(cause, values=values)


def cleaned_machine(machine: Machine, names: Iterable[str]) -> Machine:
    """The machine with all its causes `cleaned`; names of products and versions stand."""
    known = tuple(names)
    devices = (
        replace(device, problems=tuple(cleaned_cause(cause, known) for cause in device.problems))
        for device in machine.devices
    )
    problems = tuple(cleaned_cause(cause, known) for cause in machine.problems)
    return replace(machine, devices=tuple(devices), problems=problems)
