"""Ways to load a model, kept by name: what they ask for beside the program's own, one of them the model's default.

A preset belongs to a path and a format, as what is written on models does. What it says is checked as it is used: an
engine may have lost a setting meanwhile.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weighbridge.base.database import Database
from weighbridge.base.errors import NotFound, Refused
from weighbridge.base.listeners import Listeners
from weighbridge.base.printable import encodable
from weighbridge.library.model import Key, Model, key_of
from weighbridge.running.choose import engines_for
from weighbridge.running.load_settings import Applied, applied
from weighbridge_engines.api import Engine, Load

LONGEST_NAME = 60
"""Letters of a name."""


@dataclass(frozen=True)
class Preset:
    """One way to load a model: values of settings by name. `is_default`: taken where nothing else is asked."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    is_default: bool = False


class Presets:
    """The one owner of all presets, in `database`. Safe to use from any thread.

    Reading looks at memory alone. Writing raises BadFile("database.failed"), and then nothing has changed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.RLock()
        self._known: dict[Key, dict[str, Preset]] = {}
        self._listeners: Listeners[[Key]] = Listeners()
        self.reload()

    def of(self, model: Model) -> tuple[Preset, ...]:
        """Those of `model`, by name."""
        return tuple(sorted(self._known.get(key_of(model), {}).values(), key=lambda one: one.name.casefold()))

    def all(self) -> Mapping[Key, tuple[Preset, ...]]:
        """All presets, also of models that are not here now."""
        with self._lock:
            return {key: tuple(known.values()) for key, known in self._known.items() if known}

    def named(self, model: Model, name: str) -> Preset:
        """That of this name. Raises NotFound("preset.unknown")."""
        found = self._known.get(key_of(model), {}).get(name)
        if found is None:
            known = ", ".join(one.name for one in self.of(model)) or "-"
            raise NotFound("preset.unknown", preset=name, model=model.title, known=known)
        return found

    def default(self, model: Model) -> Preset | None:
        """The one that is taken where nothing else is asked; None where there is none."""
        return next((one for one in self._known.get(key_of(model), {}).values() if one.is_default), None)

    def reload(self) -> None:
        """Read them again: another process may have written some."""
        with self._lock:
            found: dict[Key, dict[str, Preset]] = {}
            for row in self._database.rows("SELECT * FROM presets"):
                preset = _preset(row)
                found.setdefault((Path(os.fsdecode(row["path"])), str(row["format"])), {})[preset.name] = preset
            self._known = found

    def save(self, model: Model, name: str, values: Mapping[str, Any]) -> Preset:
        """Keep `values` under `name`, in the place of what was kept under it. Raises Refused("preset.name")."""
        key, name = key_of(model), _named(name)
        with self._lock:
            old = self._known.get(key, {}).get(name, Preset(name))
            made = replace(old, values=dict(values))
            with self._database.transaction() as connection:
                _write(connection, key, made)
            self._known.setdefault(key, {})[name] = made
        self._listeners.tell(key)
        return made

    def rename(self, model: Model, name: str, to: str) -> None:
        """Call a preset otherwise. Raises NotFound, and Refused("preset.name" or "preset.exists")."""
        key, to = key_of(model), _named(to)
        with self._lock:
            made = replace(self.named(model, name), name=to)
            if to == name:
                return
            if to in self._known[key]:
                raise Refused("preset.exists", preset=to, model=model.title)
            with self._database.transaction() as connection:
                _delete(connection, key, name)
                _write(connection, key, made)
            del self._known[key][name]
            self._known[key][to] = made
        self._listeners.tell(key)

    def remove(self, model: Model, name: str) -> None:
        """Forget a preset. Raises NotFound("preset.unknown")."""
        key = key_of(model)
        with self._lock:
            self.named(model, name)
            with self._database.transaction() as connection:
                _delete(connection, key, name)
            del self._known[key][name]
        self._listeners.tell(key)

    def make_default(self, model: Model, name: str | None) -> None:
        """Have that preset taken where nothing else is asked; None: none. Raises NotFound("preset.unknown")."""
        key = key_of(model)
        with self._lock:
            if name is not None:
                self.named(model, name)
            made = {one.name: replace(one, is_default=one.name == name) for one in self.of(model)}
            with self._database.transaction() as connection:
                for one in made.values():
                    _write(connection, key, one)
            self._known[key] = made
        self._listeners.tell(key)

    def subscribe(self, listener: Callable[[Key], object]) -> Callable[[], None]:
        """Have `listener` called with the key of each model whose presets changed, from the thread that did it.

        Returns what ends that.
        """
        return self._listeners.add(listener)


class PresetLoads:
    """Puts presets into loads, for the engine among `engines` that would run the model. For any thread.

    `presets` is None where there are none to be read. `wanted` is the name of a preset for one model, by its id, in
    the place of its default.
    """

    def __init__(
        self, presets: Presets | None, engines: Mapping[str, Engine], wanted: Mapping[str, str] | None = None
    ) -> None:
        self._presets = presets
        self._engines = engines
        self._wanted = wanted or {}

    def in_load(self, load: Load, model: Model) -> Load:
        """`load` as the preset that is taken for `model` has it; as it is where there is none."""
        return self.taken(load, model).load

    def taken(self, load: Load, model: Model) -> Applied:
        """The same, and what of the preset was left out. Raises NotFound where the wanted one is not there."""
        name = self._wanted.get(model.id)
        if self._presets is None and name is not None:
            raise NotFound("preset.unknown", preset=name, model=model.title, known="-")
        if self._presets is None:
            return Applied(load)
        preset = self._presets.default(model) if name is None else self._presets.named(model, name)
        return Applied(load) if preset is None else self.with_preset(load, model, preset)

    def with_preset(self, load: Load, model: Model, preset: Preset) -> Applied:
        """`load` with the values of `preset`, but for those that the engine would refuse now.

        A preset may name the engine; where that is not here, another one is taken, and that is told.
        """
        values = dict(preset.values)
        able = [one for one in engines_for(model.format, self._engines.values(), model) if one.missing() is None]
        named = next((one for one in able if one.id == values.get("engine")), None)
        if named is None and not able:
            return Applied(load)  # what has no engine is not loaded
        return applied(load, values, named or able[0], able)


def _named(name: str) -> str:
    made = " ".join(encodable(name).split())
    if not made or len(made) > LONGEST_NAME:
        raise Refused("preset.name", longest=LONGEST_NAME)
    return made


def _write(connection: sqlite3.Connection, key: Key, preset: Preset) -> None:
    connection.execute(
        "INSERT INTO presets (path, format, name, chosen, is_default) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (path, format, name) DO UPDATE SET chosen = excluded.chosen, is_default = excluded.is_default",
        (os.fsencode(key[0]), key[1], preset.name, json.dumps(dict(preset.values)), preset.is_default),
    )


def _delete(connection: sqlite3.Connection, key: Key, name: str) -> None:
    connection.execute(
        "DELETE FROM presets WHERE path = ? AND format = ? AND name = ?", (os.fsencode(key[0]), key[1], name)
    )


def _preset(row: sqlite3.Row) -> Preset:
    """A damaged preset is one that asks for nothing."""
    try:
        told = json.loads(row["chosen"])
        values = {str(name): tuple(one) if isinstance(one, list) else one for name, one in told.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        values = {}
    return Preset(row["name"], values, bool(row["is_default"]))
