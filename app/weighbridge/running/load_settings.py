"""The settings of a load by name: what one load asks for beside another, and values put into a load. Pure.

What settings there are, and what each may be, an engine tells as data: `Engine.controls`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge_engines.api import Cause, Engine, Load, Unsupported
from weighbridge_engines.controls import Change, Control, Home, Kind, asked, value_of, with_value

__all__ = (
    "Applied",
    "Change",
    "Control",
    "Home",
    "Kind",
    "applied",
    "asked",
    "command_line",
    "differing",
    "refusal",
    "value_of",
    "with_value",
)

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Applied:
    """A load with values put into it, and why some were left out."""

    load: Load
    left_out: tuple[Cause, ...] = ()


def differing(load: Load, base: Load, controls: Iterable[Control]) -> dict[str, Any]:
    """What `load` asks for otherwise than `base`, by name; None where `load` leaves it to the engine."""
    told = ((one.name, value_of(load, one), value_of(base, one)) for one in controls)
    return {name: value for name, value, before in told if value != before}


def applied(load: Load, values: Values, engine: Engine) -> Applied:
    """`load` with `values`, but for those that `engine` does not know, or would refuse: it is said why.

    One that does not go with the others is left out, too, for it would keep all of it from being loaded.
    """
    known = {one.name: one for one in engine.controls}
    causes: list[Cause] = []
    taken: dict[str, Any] = {}
    for name, value in values.items():
        control = known.get(name)
        cause = Cause("setting.unknown", {"name": name}) if control is None else _fault(control, value)
        if cause is None:
            taken[name] = value
        else:
            causes.append(cause)
    made = _with(load, taken, known)
    while taken and (cause := refusal(made, engine)) is not None:
        name = str(cause.values.get("name", ""))
        taken.pop(name if name in taken else next(reversed(taken)))
        made = _with(load, taken, known)
        causes.append(cause)
    return Applied(made, tuple(causes))


def refusal(load: Load, engine: Engine) -> Cause | None:
    """Why `engine` would not follow `load`; None where it would."""
    try:
        engine.check(load)
    except Unsupported as error:
        return error.cause
    return None


def command_line(load: Load, engine: Engine) -> str | None:
    """The program of the same engine that would do the same, as it is typed into a shell, without any key.

    None where there is none, or it has no word for what is asked.
    """
    if engine.said is None:
        return None
    try:
        return shlex.join(engine.said(load))
    except Unsupported:
        return None


def _with(load: Load, values: Values, known: Mapping[str, Control]) -> Load:
    for name, value in values.items():
        load = with_value(load, known[name], value)
    return load


def _fault(control: Control, value: object) -> Cause | None:
    return None if value is None else control.fault(value)
