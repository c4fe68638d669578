"""The settings of a load as data: what a window builds its controls from, a command line its options, and a check its
refusals. Pure, and the same for every engine that tells its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from weighbridge_engines.api import Cause, Load, Unsupported

MOST_TEXT = 1 << 20
"""Characters of a text: a template or a schema has some thousand."""

_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


class Kind(StrEnum):
    """What a value of a setting is. A list is a tuple; files are paths."""

    WHOLE = "whole"
    NUMBER = "number"
    NUMBERS = "numbers"
    CHOICE = "choice"
    SWITCH = "switch"
    TEXT = "text"
    JSON = "json"
    FILE = "file"
    FILES = "files"
    LINES = "lines"
    VALUES = "values"


class Home(StrEnum):
    """Where the value stands in a `Load`: a field of it, or an entry of `sampling` or `extra`."""

    FIELD = "field"
    SAMPLING = "sampling"
    EXTRA = "extra"


class Change(StrEnum):
    """What a setting changes."""

    MEMORY = "memory"
    SPEED = "speed"
    ANSWERS = "answers"


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Control:
    """One setting: its name, as it is asked for, and what it may be. None as its value leaves it to the engine.

    `group` is the heading it stands under. Numbers go from `low` to `high`, both included, in `unit` ("tokens",
    "layers", "MiB", ""); None is no bound. `choices` are those of a CHOICE. `default` is what the engine takes where
    nothing is asked, None where that depends on the model or the machine. `parameter` is the name by which the engine's
    library knows it ("a.b" is attribute b of attribute a), and `made` turns a value into that parameter's.
    """

    name: str
    group: str
    kind: Kind
    parameter: str
    changes: frozenset[Change]
    home: Home = Home.FIELD
    low: float | None = None
    high: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    default: Any = None
    made: Callable[[Any], Any] = _as_it_is

    def fault(self, value: object) -> Cause | None:
        """Why the setting cannot be `value`; None where it can.

        "setting.kind." and the kind, "setting.range" with `low` and `high`, or "setting.choice" with `known`.
        """
        if not _KINDS[self.kind](value):
            return self._cause(_NOT_OF_KIND[self.kind], value)
        if self.kind is Kind.CHOICE and value not in self.choices:
            return self._cause("setting.choice", value, known=", ".join(self.choices))
        numbers = value if isinstance(value, tuple) else (value,)
        if self.kind in (Kind.WHOLE, Kind.NUMBER, Kind.NUMBERS) and not all(map(self._within, numbers)):
            return self._cause("setting.range", value, low=_bound(self.low), high=_bound(self.high), unit=self.unit)
        return None

    def read(self, words: str) -> Any:
        """The value that `words` say. Raises Unsupported with the cause of `fault`."""
        try:
            value = _READ[self.kind](words)
        except (ValueError, RecursionError):
            raise Unsupported(self._cause(_NOT_OF_KIND[self.kind], words)) from None
        if cause := self.fault(value):
            raise Unsupported(cause)
        return value

    def _within(self, number: Any) -> bool:
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)

    def _cause(self, code: str, value: object, **values: object) -> Cause:
        return Cause(code, {"name": self.name, "value": str(value)[:60], **values})


def value_of(load: Load, control: Control) -> Any:
    """What `load` asks for; None where it leaves that to the engine."""
    if control.home is Home.FIELD:
        value = getattr(load, control.name)
        return None if value == () else value
    return getattr(load, control.home).get(control.name)


def with_value(load: Load, control: Control, value: Any) -> Load:
    """`load` with that value; None leaves it to the engine."""
    changed: dict[str, Any]
    if control.home is Home.FIELD:
        changed = {control.name: getattr(Load(load.model), control.name) if value is None else value}
    else:
        told = {name: one for name, one in getattr(load, control.home).items() if name != control.name}
        changed = {str(control.home): told if value is None else {**told, control.name: value}}
    return replace(load, **changed)


def asked(load: Load, controls: Iterable[Control]) -> dict[str, Any]:
    """All that `load` asks for, by name."""
    told = ((control.name, value_of(load, control)) for control in controls)
    return {name: value for name, value in told if value is not None}


def check(load: Load, controls: Iterable[Control]) -> None:
    """Raise Unsupported where `load` asks for what no control has, or for a value that one cannot have."""
    known = list(controls)
    for home in (Home.SAMPLING, Home.EXTRA):
        names = {control.name for control in known if control.home is home}
        if unknown := {str(name) for name in getattr(load, home)} - names:
            raise Unsupported(Cause("setting.unknown", {"name": min(unknown)[:60]}))
    for control in known:
        value = value_of(load, control)
        if value is not None and (cause := control.fault(value)):
            raise Unsupported(cause)


def check_alone(load: Load, controls: Iterable[Control], lacking: Iterable[str]) -> None:
    """As `check`, for an engine that loads a model alone, to chat with: no field of `lacking`, and no adapters."""
    check(load, controls)
    asked_for = [name for name in lacking if getattr(load, name) is not None]
    if load.adapters:
        asked_for.append("adapters")
    if asked_for:
        raise Unsupported(Cause("setting.unknown", {"name": asked_for[0]}))
    if load.task != "chat":
        raise Unsupported(Cause("setting.choice", {"name": "task", "value": load.task, "known": "chat"}))


def _bound(bound: float | None) -> str:
    """A bound in words that are no language: "0", "1.5", "∞" where there is none."""
    return "∞" if bound is None else f"{bound:.10g}"


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MOST_TEXT and "\0" not in value


def _is_json(value: object) -> bool:
    try:
        return _is_text(value) and isinstance(json.loads(str(value)), dict)
    except (ValueError, RecursionError):
        return False


def _all(each: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, tuple) and all(map(each, value))


def _is_plain(value: object) -> bool:
    """Values by name, each a text, a number or a switch."""
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(one, str | int | float | bool) for name, one in value.items()
    )


_KINDS: Mapping[Kind, Callable[[object], bool]] = {
    Kind.WHOLE: _is_whole,
    Kind.NUMBER: _is_number,
    Kind.NUMBERS: _all(_is_number),
    Kind.CHOICE: _is_text,
    Kind.SWITCH: lambda value: isinstance(value, bool),
    Kind.TEXT: _is_text,
    Kind.JSON: _is_json,
    Kind.FILE: _is_text,
    Kind.FILES: _all(_is_text),
    Kind.LINES: _all(_is_text),
    Kind.VALUES: _is_plain,
}


def _switch(words: str) -> bool:
    if words.lower() in _ON:
        return True
    if words.lower() in _OFF:
        return False
    raise ValueError(words)


def _number(words: str) -> float:
    return int(words) if words.strip().lstrip("+-").isdecimal() else float(words)


def _numbers(words: str) -> tuple[float, ...]:
    return tuple(map(_number, words.split(",")))


def _file(words: str) -> str:
    if not words:
        raise ValueError("no path")
    return words


_NOT_OF_KIND: Mapping[Kind, str] = {
    Kind.WHOLE: "setting.kind.whole",
    Kind.NUMBER: "setting.kind.number",
    Kind.NUMBERS: "setting.kind.numbers",
    Kind.CHOICE: "setting.kind.choice",
    Kind.SWITCH: "setting.kind.switch",
    Kind.TEXT: "setting.kind.text",
    Kind.JSON: "setting.kind.json",
    Kind.FILE: "setting.kind.file",
    Kind.FILES: "setting.kind.files",
    Kind.LINES: "setting.kind.lines",
    Kind.VALUES: "setting.kind.values",
}

_READ: Mapping[Kind, Callable[[str], Any]] = {
    Kind.WHOLE: int,
    Kind.NUMBER: _number,
    Kind.NUMBERS: _numbers,
    Kind.CHOICE: str,
    Kind.SWITCH: _switch,
    Kind.TEXT: str,
    Kind.JSON: str,
    Kind.FILE: _file,
    Kind.FILES: lambda words: (_file(words),),
    Kind.LINES: lambda words: tuple(words.split()),
    Kind.VALUES: json.loads,
}
