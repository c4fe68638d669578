"""The settings of a load by name: what one load asks for beside another, and values put into a load. Pure.

What settings there are, and what each may be, an engine tells as data: `Engine.controls`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge_engines.api import Cause, Engine, Load, Unsupported
from weighbridge_engines.controls import Change, Control, Home, Kind, with_value
from weighbridge_engines.controls import value_of as value_told

__all__ = (
    "Applied",
    "Change",
    "Control",
    "Home",
    "Kind",
    "applied",
    "command_line",
    "differing",
    "hosting",
    "load_for",
    "refusal",
    "settings_of",
    "value_of",
    "with_value",
)

Values = Mapping[str, Any]
_EVERYTHING = frozenset(Change)


@dataclass(frozen=True)
class Applied:
    """A load with values put into it, and why some were left out."""

    load: Load
    left_out: tuple[Cause, ...] = ()


def hosting(able: Iterable[Engine]) -> tuple[Control, ...]:
    """Which of the engines in `able` loads a model, and whether this program hosts that engine's library itself.

    Each only where there is a choice.
    """
    engines = list(able)
    names = tuple(engine.id for engine in engines)
    made = [Control("engine", "engine", Kind.CHOICE, "", _EVERYTHING, choices=names)] if len(names) > 1 else []
    if any(engine.open_here is not None for engine in engines):
        made.append(Control("in_process", "engine", Kind.SWITCH, "", _EVERYTHING, default=False))
    return tuple(made)


def settings_of(engine: Engine, able: Iterable[Engine] = ()) -> tuple[Control, ...]:
    """All that can be asked of a load by `engine`, where those in `able` could run the model."""
    return (*hosting(able), *engine.controls)


def value_of(load: Load, control: Control) -> Any:
    """What `load` asks for; None where it leaves that to the engine, or names no engine."""
    return value_told(load, control) if value_told(load, control) != "" else None


def differing(load: Load, base: Load, controls: Iterable[Control]) -> dict[str, Any]:
    """What `load` asks for otherwise than `base`, by name; None where `load` leaves it to the engine."""
    told = ((one.name, value_of(load, one), value_of(base, one)) for one in controls)
    return {name: value for name, value, before in told if value != before}


def applied(load: Load, values: Values, engine: Engine, able: Iterable[Engine] = ()) -> Applied:
    """`load` with `values`, but for those that `engine` does not know, or would refuse: it is said why.

    One that does not go with the others is left out, too, for it would keep all of it from being loaded. `able` are the
    engines that could run the model.
    """
    known = {one.name: one for one in settings_of(engine, able)}
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


def load_for(engine: Engine, load: Load) -> Load:
    """`load` as `engine` could follow it, in a process of its own: what it does not know, or would refuse, is left to
    it, and so is how much of a prompt it takes at a time, which is another thing to each engine.
    """
    plain = Load(load.model, load.alias, load.context, load.threads, task=load.task, engine=engine.id)
    told = {one.name: value_of(load, one) for one in engine.controls if one.name not in ("batch", "micro_batch")}
    return applied(plain, {name: value for name, value in told.items() if value is not None}, engine).load


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
