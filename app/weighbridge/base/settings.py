"""The user's settings: one typed record, kept in a TOML file by one owner. Each field carries its kind and its words.

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
from typing import TYPE_CHECKING, Any

from weighbridge.base.listeners import Listeners
from weighbridge.base.setting_kinds import Address, Choice, Folders, Kind, Number, Switch, kind_of, setting
from weighbridge.base.small_files import read_small
from weighbridge.base.words import mark

if TYPE_CHECKING:
    from weighbridge_engines.api import Cause

_WINDOW, _PORT, _MODELS, _HUB = mark("Window"), mark("Port"), mark("Models"), mark("Hugging Face Hub")
_AS_SYSTEM = mark("As the system")
_MOST_IDLE_MINUTES = 7 * 24 * 60

_THEME = Choice(
    mark("Appearance"),
    mark("Light or dark."),
    _WINDOW,
    {"system": _AS_SYSTEM, "light": mark("Light"), "dark": mark("Dark")},
)
_LANGUAGE = Choice(
    mark("Language"),
    mark("Of the window and of the commands."),
    _WINDOW,
    {"system": _AS_SYSTEM, "en": "English", "es": "Español"},
)
_CLOSING = Choice(
    mark("Closing the window"),
    mark("In the tray, the port stays open and models stay loaded. Without a tray, closing ends everything."),
    _WINDOW,
    {"stop": mark("Ends everything"), "tray": mark("Leaves it in the tray")},
)
_PORT_NUMBER = Number(mark("Port"), mark("Where other programs ask, on this machine alone."), _PORT, low=1, high=65_535)
_PORT_ON = Switch(mark("Port open"), mark("Open it now and at each start."), _PORT)
_CONTEXT = Number(
    mark("Context length"),
    mark("Of loads that ask for none. A longer one takes more memory."),
    _MODELS,
    low=1,
    step=1024,
    unit=mark("tokens"),
)
_IDLE = Number(
    mark("End unused models after"),
    mark("A pinned model, or one that answers, is not ended."),
    _MODELS,
    low=1,
    high=_MOST_IDLE_MINUTES,
    unit=mark("minutes"),
    none=mark("Never"),
)
_FOLDERS = Folders(mark("Model folders"), mark("Looked at beside Weighbridge's own folder."), _MODELS)
_FILES = Folders()  # without a title: files are added by dropping them on the window, or by a command
_OTHERS = Switch(
    mark("Use models of other programs"),
    mark("LM Studio, Ollama, Hugging Face's cache, llama.cpp, Jan and GPT4All. Nothing of theirs is changed."),
    _MODELS,
)
_OFFLINE = Switch(
    mark("Stay offline"),
    mark("Nothing is asked of the Hub or of a package index. Other machines that you have named yourself still are."),
    _HUB,
)
_AT_ONCE = Number(mark("Downloads at once"), mark("Files that are fetched side by side."), _HUB, low=1, high=3)
_CAP = Number(
    mark("Speed of downloads"),
    mark("All together take no more of the line."),
    _HUB,
    low=1,
    high=100_000,
    step=10,
    unit=mark("Mbit/s"),
    none=mark("No limit"),
)
_TARGET = Choice(
    mark("Where downloads go"),
    mark("Into Weighbridge's models folder, or where other Hugging Face programs look too."),
    _HUB,
    {"folder": mark("Models folder"), "hf_cache": mark("Hugging Face cache")},
)
_XET = Choice(
    mark("Fetch by Xet"),
    mark("The Hub's own way in many pieces: faster on fast lines, and needed for files over 50 GB."),
    _HUB,
    {"large": mark("Large files only"), "always": mark("Always"), "never": mark("Never")},
)
_ENDPOINT = Address(
    mark("Address of the Hub"),
    mark("For a mirror. Whoever runs it gets your token, and says what a file must be. Empty: what HF_ENDPOINT says."),
    _HUB,
    none="https://huggingface.co",
)
_KEPT = Kind()

THEMES = tuple(_THEME.words)
LANGUAGE_CHOICES = tuple(_LANGUAGE.words)


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults. None is "not set", and is not written.

    `context` is the context length, in tokens, of a load that asks for none. `model_folders` are looked at beside our
    own, and so are the single `model_files`. A model that nobody has used for `idle_minutes` is ended; None: never.
    `download_mbps` is in Mbit/s.
    """

    theme: str = setting("system", _THEME)
    language: str = setting("system", _LANGUAGE)
    closing: str = setting("stop", _CLOSING)
    port: int = setting(2412, _PORT_NUMBER)
    port_on: bool = setting(False, _PORT_ON)
    context: int = setting(4096, _CONTEXT)
    idle_minutes: int | None = setting(None, _IDLE)
    model_folders: tuple[str, ...] = setting((), _FOLDERS)
    model_files: tuple[str, ...] = setting((), _FILES)
    other_programs: bool = setting(True, _OTHERS)
    offline: bool = setting(False, _OFFLINE)
    downloads_at_once: int = setting(2, _AT_ONCE)
    download_mbps: int | None = setting(None, _CAP)
    download_target: str = setting("folder", _TARGET)
    xet: str = setting("large", _XET)
    hub_endpoint: str | None = setting(None, _ENDPOINT)
    window_geometry: str | None = setting(None, _KEPT)
    last_model: str | None = setting(None, _KEPT)
    tray_told: bool = setting(False, Switch())
    discover_opened: bool = setting(False, Switch())

    @property
    def idle_s(self) -> float | None:
        """How many seconds a model may be unused; None: for ever."""
        return None if self.idle_minutes is None else self.idle_minutes * 60.0

    @property
    def download_bytes_s(self) -> float | None:
        """How many bytes a second all downloads may take; None: as many as come."""
        return None if self.download_mbps is None else self.download_mbps * 1e6 / 8


def language_choice(path: Path) -> str | None:
    """The language that the settings in the file `path` ask for; None for the system's, or where nothing sensible can
    be read. For the time before there is a `SettingsStore`: changes nothing and reports nothing.
    """
    try:
        choice = tomllib.loads(read_small(path)).get("language")
    except (OSError, ValueError, RecursionError):
        return None
    return choice if choice in LANGUAGE_CHOICES and choice != "system" else None


class SettingsStore:
    """The one owner of the settings and of their file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listeners: Listeners[[Settings]] = Listeners()
        self._notices: list[Cause] = []
        self._unread = False
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
        self._listeners.tell(self._value)

    def subscribe(self, listener: Callable[[Settings], None]) -> Callable[[], None]:
        """Have `listener` called after each change, in the thread that changed. Returns what ends that."""
        return self._listeners.add(listener)

    def _read(self) -> dict[str, Any]:
        try:
            return tomllib.loads(read_small(self._path))
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):  # not TOML, not UTF-8, a number too long, nested without end
            self._set_aside()
        except OSError as error:
            self._notices.append(_cause("settings.unreadable", {"path": str(self._path), "reason": str(error)}))
            self._unread = True
        return {}

    def _set_aside(self) -> None:
        self._unread = False
        aside = self._path.with_suffix(".damaged.toml")
        try:
            self._path.replace(aside)
        except OSError:
            aside = self._path
        self._notices.append(_cause("settings.damaged", {"path": str(aside)}))

    def _write(self) -> None:
        import tomli_w  # most starts write nothing

        if self._unread and self._path.exists():  # what could not be read is not written over
            self._set_aside()
        part = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(tomli_w.dumps(self._table), "utf-8")
            part.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            self._notices.append(_cause("settings.unwritable", {"path": str(self._path), "reason": str(error)}))


def _cause(code: str, values: Mapping[str, object]) -> Cause:
    from weighbridge_engines.api import Cause  # with the whole contract, which a start without a fault can do without

    return Cause(code, values)


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
            bad.append(_cause("settings.bad_value", shown))
    return Settings(**good), bad


def _accepts(name: str, value: object) -> bool:
    try:
        return _KINDS[name].accepts(value)
    except KeyError:
        raise TypeError(f"no setting {name!r}") from None


_KINDS: Mapping[str, Kind] = {field.name: kind_of(field) for field in fields(Settings)}
