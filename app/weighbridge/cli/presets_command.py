"""`weighbridge presets`: the ways to load a model that are kept by name."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from weighbridge.base.words import text
from weighbridge.cli.argparse_words import Commands
from weighbridge.cli.json_words import word_with_json

if TYPE_CHECKING:
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model
    from weighbridge.running.presets import Preset, Presets


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command and what it does with presets; without a word more it lists them."""
    parser = subparsers.add_parser("presets", help=text("ways to load a model, kept by name"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=_ls, model=None)
    words = parser.add_subparsers(action=Commands, metavar=text("WHAT"))
    listed = word_with_json(words, "ls", _ls, text("list them (also without a word)"))
    listed.add_argument("model", metavar=text("MODEL"), nargs="?", help=text("only those of this model"))
    kept = _of_one(words, "set", _set, text("keep settings under a name"))
    kept.add_argument("values", metavar=text("SETTING=VALUE"), nargs="+", help=text("context=8192 key_type=q8_0"))
    _of_one(words, "rm", _rm, text("forget one"))
    _of_one(words, "default", _default, text("take it where nothing else is asked"))


def _of_one(words: Any, name: str, act: Any, told: str) -> argparse.ArgumentParser:
    parser = word_with_json(words, name, act, told)
    parser.add_argument("model", metavar=text("MODEL"), help=text("its name, as ls shows it, or its path"))
    parser.add_argument("preset", metavar=text("NAME"), help=text("the preset's name"))
    return parser


def _ls(arguments: argparse.Namespace) -> int:
    """List them, model by model."""
    from weighbridge.cli.table import table

    with _open() as (library, presets):
        models = [library.resolve(arguments.model)] if arguments.model else library.models
        found = [(model, one) for model in models for one in presets.of(model)]
    if arguments.json:
        print(json.dumps([_as_json(model, one) for model, one in found]))
    elif not found:
        print(text("There are no presets."))
    else:
        print(table((text("name"), text("preset"), text("settings")), [_row(*each) for each in found]))
    return 0


def _set(arguments: argparse.Namespace) -> int:
    """Keep the values, each checked by what the engine that would run the model may be told."""
    from weighbridge.cli.setting_options import values_told
    from weighbridge.hardware.detect import detect
    from weighbridge.running.choose import engine_for

    with _open() as (library, presets):
        model = library.resolve(arguments.model)
        engine = engine_for(model, arguments.engines().values(), look=detect)
        presets.save(model, arguments.preset, values_told(model, engine, arguments.values))
        return _tell(arguments, model, presets)


def _rm(arguments: argparse.Namespace) -> int:
    """Forget one."""
    with _open() as (library, presets):
        model = library.resolve(arguments.model)
        presets.remove(model, arguments.preset)
        return _tell(arguments, model, presets)


def _default(arguments: argparse.Namespace) -> int:
    """Make one the default of its model."""
    with _open() as (library, presets):
        model = library.resolve(arguments.model)
        presets.make_default(model, arguments.preset)
        return _tell(arguments, model, presets)


def _tell(arguments: argparse.Namespace, model: Model, presets: Presets) -> int:
    """As JSON, the presets that the model now has; else nothing."""
    if arguments.json:
        print(json.dumps([_as_json(model, one) for one in presets.of(model)]))
    return 0


@contextmanager
def _open() -> Iterator[tuple[Library, Presets]]:
    """The library, scanned just now, and its presets. Raises a WeighbridgeError where the database cannot be used."""
    from contextlib import closing

    from weighbridge.base.database import Database
    from weighbridge.base.paths import default_paths
    from weighbridge.cli.loading import scanned_library
    from weighbridge.running.presets import Presets

    library = scanned_library()
    with closing(Database(default_paths().database)) as database:
        yield library, Presets(database)


def _row(model: Model, preset: Preset) -> tuple[str, str, str]:
    values = " ".join(f"{name}={_plain(value)}" for name, value in preset.values.items())
    name = text("{preset} (default)", preset=preset.name) if preset.is_default else preset.name
    return model.id, name, values


def _plain(value: object) -> str:
    """A value as it is typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _as_json(model: Model, preset: Preset) -> dict[str, Any]:
    return {"id": model.id, "preset": preset.name, "default": preset.is_default, "settings": dict(preset.values)}
