"""`--set NAME=VALUE`, `--list-settings` and `--show-command`: every setting of a load, as its engine tells it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import Refused
from weighbridge.base.words import text
from weighbridge.cli.table import table

if TYPE_CHECKING:
    from weighbridge.library.model import Model
    from weighbridge.running.choose import NameParts
    from weighbridge_engines.api import Cause, Engine
    from weighbridge_engines.controls import Control


def add_setting_options(parser: argparse._ActionsContainer) -> None:
    """Register `--set` and `--list-settings`."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar=text("NAME=VALUE"),
        help=text(
            "a setting of the load, or NAME= to leave it to the engine; may be given several times: see --list-settings"
        ),
    )
    parser.add_argument(
        "--list-settings",
        action="store_true",
        help=text("show all settings that --set knows, or those of --engine, and exit"),
    )


def listing(engines: Iterable[Engine], engine_id: str | None = None) -> str:
    """All settings of `engines`, each once, as the engine with the most has it, or those of one: name, what it may be,
    default.
    """
    from weighbridge.choices.setting_words import setting_hint, setting_name

    controls: dict[str, Control] = {}
    shown = (engine for engine in engines if engine_id in (None, engine.id))
    for engine in sorted(shown, key=lambda engine: -len(engine.controls)):
        for control in engine.controls:
            controls.setdefault(control.name, control)
    words = {name: f"{setting_name(name)}. {setting_hint(name)}" for name in controls}
    rows = [(one.name, _may_be(one), _as_told(one.default), words[one.name]) for one in controls.values()]
    return table((text("Setting"), text("May be"), text("Default"), text("What it is")), rows)


def values_told(model: Model, engine: Engine, told: Sequence[str], *, may_clear: bool = False) -> Mapping[str, Any]:
    """What was typed, as values. Raises Refused where the engine would refuse one, or all of them together.

    Of a list, each value may be told by itself. Where they `may_clear`, nothing behind the "=" is None: what else would
    be asked for is left to the engine.
    """
    from weighbridge.running.load_settings import applied
    from weighbridge_engines.api import Load, Unsupported

    known = {control.name: control for control in engine.controls}
    values: dict[str, Any] = {}
    for each in told:
        name, sign, words = each.partition("=")
        if name not in known:
            raise Refused("setting.unknown", name=name)
        try:
            value = None if may_clear and sign and not words else known[name].read(words)
        except Unsupported as refusal:
            raise refused(refusal.cause) from None
        values[name] = (*(values.get(name) or ()), *value) if isinstance(value, tuple) else value
    if causes := applied(Load(str(model.path)), values, engine).left_out:
        raise refused(causes[0])
    return values


def refused(cause: Cause) -> Refused:
    """`cause` as an error, with settings by their names."""
    from weighbridge.choices.setting_words import setting_name

    names = {key: setting_name(str(cause.values[key])) for key in ("name", "needs") if key in cause.values}
    return Refused(cause.code, **{**cause.values, **names})


def with_told(
    in_preset: NameParts,
    told: Sequence[str],
    model: Model | None,
    engines: Mapping[str, Engine],
    engine_id: str | None = None,
) -> NameParts:
    """`in_preset`, and what was told by `--set` put into loads of `model` after it, by `engine_id` where it is named.

    Raises Refused for what its engine would not follow, and where no model is meant.
    """
    from weighbridge.hardware.detect import detect
    from weighbridge.running.choose import engine_for
    from weighbridge.running.load_settings import applied
    from weighbridge_engines.api import Load

    if not told:
        return in_preset
    if model is None:
        raise Refused("options.needs", one="--set", other="--model")
    engine = engine_for(model, engines.values(), Load(str(model.path), engine=engine_id or ""), detect)
    values = values_told(model, engine, told, may_clear=True)
    return lambda load, one: (
        applied(in_preset(load, one), values, engine).load if one.id == model.id else in_preset(load, one)
    )


def _as_told(value: object) -> str:
    """A value as `--set` takes it, the same in every language; "-" for None."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)


def _may_be(control: Control) -> str:
    from weighbridge.choices.setting_words import unit_in_words

    if control.choices:
        return "|".join(control.choices)
    if control.low is not None or control.high is not None:
        low, high = ("" if bound is None else f"{bound:.10g}" for bound in (control.low, control.high))
        return f"{low}..{high} {unit_in_words(control.unit)}".strip()
    return {"switch": "on|off", "file": text("a file"), "files": text("files")}.get(control.kind, text("text"))
