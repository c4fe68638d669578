"""The command line of a server program, for a load: what its entry says, with the load's values put in. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Cause, Load, Unsupported
from weighbridge_engines.controls import Control, Kind, check, value_of
from weighbridge_engines.program_place import Place
from weighbridge_engines.program_table import Entry, Option

START = Path(__file__).with_name("program_start.py")
SAID_PORT = 8000
"""The port in a command line that is only shown."""

_ALWAYS_OURS = ("--host", "--port", "--api-key", "--api-keys", "--server-name", "--server-port", "--uds", "--config")
_LEFT_BY_DEFAULT: Mapping[str, Any] = {
    "slots": 1, "adapters": (), "adapter_scales": (), "draft_kind": "simple", "key_type": None, "value_type": None,
    "gpu_layers": None, "cpu_experts": None, "split": None, "split_mode": None, "main_gpu": None, "projector": None,
    "draft": None, "template": None, "flash_attention": None, "whole_window": None, "batch_threads": None,
    "micro_batch": None, "mapped": None,
}  # fmt: skip
"""Fields of a load that are as here unless somebody asks for more. Others are told to every engine."""


def command(entry: Entry, place: Place, load: Load, port: int) -> list[str]:
    """How it is started at `place` to serve `load` at `port`. Never with a key."""
    return [*_head(entry, place), *(_filled(word, load, port) for word in entry.argv), *arguments(entry, load)]


def arguments(entry: Entry, load: Load) -> list[str]:
    """What the settings of `load` add."""
    return [word for option in entry.options for word in words_of(option, value_of(load, option.control))]


def words_of(option: Option, value: Any) -> list[str]:
    """How the program is told that a setting is `value`; nothing where it is left to it, or said otherwise."""
    kind = option.control.kind
    if value is None or value == option.unsaid:
        return []
    if kind is Kind.LINES:
        return list(value)
    if kind is Kind.SWITCH:
        word = option.option if value else option.off
        return shlex.split(word)
    if not option.option:
        return []
    several = value if isinstance(value, tuple) else (value,)
    told = [_one(option, one) for one in several]
    words = told if option.joined is None else [option.joined.join(told)]
    return [*option.before, *(word for name in (option.option, *option.also) for word in (name, *words))]


def environment_of(entry: Entry, load: Load) -> dict[str, str]:
    """The variables that the settings of `load` set."""
    told = ((option, value_of(load, option.control)) for option in entry.options if option.variable)
    return {option.variable: _one(option, value) for option, value in told if value not in (None, option.unsaid)}


def name_of(entry: Entry, load: Load) -> str:
    """What the model is called in a request."""
    named = {"alias": load.alias or load.model, "model": load.model, "model_name": Path(load.model).name}
    return named[entry.named_by]


def checked(entry: Entry, load: Load) -> None:
    """Raise Unsupported where the program could not follow `load`, with a "setting." code that names what."""
    controls = entry.controls
    check(load, controls)
    names = {control.name for control in controls}
    for name, default in _LEFT_BY_DEFAULT.items():
        if name not in names and getattr(load, name) != default:
            raise Unsupported(Cause("setting.unknown", {"name": name}))
    for option in entry.options:
        value = value_of(load, option.control)
        if option.alike and value is not None and value != _value(controls, option.alike, load):
            raise Unsupported(Cause("setting.needs", {"name": option.control.name, "needs": option.alike}))
        if option.control.kind is Kind.LINES:
            _check_words(entry, value or ())


def _value(controls: tuple[Control, ...], name: str, load: Load) -> Any:
    return next((value_of(load, control) for control in controls if control.name == name), None)


def _check_words(entry: Entry, words: tuple[str, ...]) -> None:
    """What the entry says of address, key and model is not for a load to say."""
    ours = {*_ALWAYS_OURS, *(word for word in entry.argv if word.startswith("-"))}
    for word in words:
        name = word.partition("=")[0].replace("_", "-")
        if name in ours or any(len(name) > 3 and name.startswith("--") and one.startswith(name) for one in ours):
            raise Unsupported(Cause("setting.ours", {"name": name}))


def _head(entry: Entry, place: Place) -> list[str]:
    if entry.script:
        return [place.python or entry.program, str(Path(place.folder or "") / entry.script)]
    if entry.starter and place.python is not None:
        return [place.python, str(START.with_name(entry.starter))]
    if entry.key == "argument" and place.python is not None:
        return [place.python, str(START), entry.entry, entry.key_by]
    return [place.program or entry.program]


def _filled(word: str, load: Load, port: int) -> str:
    path = Path(load.model)
    values = {
        "{model}": load.model,
        "{model_parent}": str(path.parent),
        "{model_name}": path.name,
        "{alias}": load.alias or load.model,
        "{port}": str(port),
    }
    return values.get(word) or _within(word, values)


def _within(word: str, values: Mapping[str, str]) -> str:
    """Only what the entry wrote is looked at: a name that holds a brace stays as it is."""
    before, place, after = next((word.partition(name) for name in values if name in word), (word, "", ""))
    return before + values[place] + after if place else word


def _one(option: Option, value: Any) -> str:
    told = f"{value:.10g}" if isinstance(value, float) else str(value)
    return option.each.replace("{stem}", Path(told).stem).replace("{value}", told)
