"""The user's settings: one typed record, kept in a TOML file by one owner.

Keys that we do not know (of a newer version, or written by hand) are kept as they are. A value of the wrong kind is
reported by name and its default is used; the file on disk still holds it until that setting is changed. A file that is
not TOML is set aside beside its old place, and defaults are used. None of this stops the program.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from weighbridge_engines.api import Cause

THEMES = ("system", "light", "dark")
LANGUAGE_CHOICES = ("system", "en", "es")


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults. None is "not set", and is not written.

    `context` is the context length, in tokens, of a load that asks for none. `model_folders` are looked at beside our
    own.
    """

    theme: str = "system"
    language: str = "system"
    port: int = 2412
    port_on: bool = False
    context: int = 4096
    model_folders: tuple[str, ...] = ()
    window_geometry: str | None = None
    last_model: str | None = None


def language_choice(path: Path) -> str | None:
    """The language that the settings in the file `path` ask for; None for the system's, or where nothing sensible can
    be read. For the time before there is a `SettingsStore`: changes nothing and reports nothing.
    """
    try:
        choice = tomllib.loads(path.read_text("utf-8")).get("language")
    except (OSError, ValueError, RecursionError):
        return None
    return choice if choice in LANGUAGE_CHOICES and choice != "system" else None


class SettingsStore:
    """The one owner of the settings and of their file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listeners: list[Callable[[Settings], None]] = []
        self._notices: list[Cause] = []
        self._table = self._read()
        self._value, bad = parse(self._table)
        self._notices += bad

    @property
    def value(self) -> Settings:
        """The settings in force."""
        return self._value

    @property
    def notices(self) -> tuple[Cause, ...]:
        """What was wrong with the file, or with writing it: codes of `base.explain`."""
        return tuple(self._notices)

    def change(self, **values: object) -> None:
        """Set some fields, write the file, tell the listeners. A file that cannot be written leaves a notice; the
        change holds until the end. Raises ValueError at a value that the field does not take, TypeError at an unknown
        field.
        """
        for name, value in values.items():
            if not _accepts(name, value):
                raise ValueError(f"{name}={value!r}")
        self._value = replace(self._value, **values)  # type: ignore[arg-type]
        for name, value in values.items():
            self._table.pop(name, None)
            if value is not None:
                self._table[name] = list(value) if isinstance(value, tuple) else value
        self._write()
        for listener in tuple(self._listeners):
            listener(self._value)

    def subscribe(self, listener: Callable[[Settings], None]) -> Callable[[], None]:
        """Have `listener` called after each change, in the thread that changed. Returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _read(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):  # not TOML, not UTF-8, a number too long, nested without end
            self._set_aside()
        except OSError as error:
            self._notices.append(Cause("settings.unreadable", {"path": str(self._path), "reason": str(error)}))
        return {}

    def _set_aside(self) -> None:
        aside = self._path.with_suffix(".damaged.toml")
        try:
            self._path.replace(aside)
        except OSError:
            aside = self._path
        self._notices.append(Cause("settings.damaged", {"path": str(aside)}))

    def _write(self) -> None:
        import tomli_w  # most starts write nothing

        part = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(tomli_w.dumps(self._table), "utf-8")
            part.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            self._notices.append(Cause("settings.unwritable", {"path": str(self._path), "reason": str(error)}))


def parse(table: Mapping[str, Any]) -> tuple[Settings, list[Cause]]:
    """The settings of a TOML table, and a cause for each value that is not of the right kind."""
    good: dict[str, Any] = {}
    bad: list[Cause] = []
    for field in fields(Settings):
        if field.name not in table:
            continue
        value = table[field.name]
        value = tuple(value) if isinstance(value, list) else value
        if _accepts(field.name, value):
            good[field.name] = value
        else:
            shown = {"name": field.name, "value": repr(value), "default": field.default}
            bad.append(Cause("settings.bad_value", shown))
    return Settings(**good), bad


def _accepts(name: str, value: object) -> bool:
    try:
        return _CHECKS[name](value)
    except KeyError:
        raise TypeError(f"no setting {name!r}") from None


def _is_number(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_paths(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) and item and "\0" not in item for item in value)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


_CHECKS: Mapping[str, Callable[[object], bool]] = {
    "theme": lambda value: value in THEMES,
    "language": lambda value: value in LANGUAGE_CHOICES,
    "port": lambda value: _is_number(value, 1, 65_535),
    "port_on": lambda value: isinstance(value, bool),
    "context": lambda value: _is_number(value, 1, 1 << 31),
    "model_folders": _is_paths,
    "window_geometry": _is_text_or_none,
    "last_model": _is_text_or_none,
}
