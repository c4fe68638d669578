"""Server programs as data: the entries of `programs.toml`, read and checked. Pure, standard library only.

The head of that file explains each key. What an entry says wrongly is told with its name and, where it can be found,
the line; the other entries stand.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from weighbridge_engines.api import Capability, Cause, Load
from weighbridge_engines.controls import Change, Control, Home, Kind

SHARES = ("", "all", "static", "rest")
KEYS = ("none", "variable", "argument", "file")
STARTERS = ("", "transformers_serve.py")
SYSTEMS = ("linux", "darwin", "windows")
FIELDS = frozenset(one.name for one in fields(Load)) - {"model", "alias", "sampling", "extra", "task", "engine"}
"""What a setting of an entry may be called that is a field of a `Load`; any other name is its own."""

_ID = re.compile(r"[a-z][a-z0-9_]{1,31}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PLACE = re.compile(r"\{(\w*)\}")
_PLACES = frozenset({"model", "model_parent", "model_name", "alias", "port"})
_MOST_WORDS = 500


class BadEntry(Exception):
    """An entry that cannot be used: `cause` holds its name, its line (0: not known) and the reason."""

    def __init__(self, name: str, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.cause = Cause("program.bad_entry", {"name": name[:60], "reason": reason[:300], "line": line})


@dataclass(frozen=True)
class Option:
    """A setting, and how the program is told: behind `option`, or by the environment `variable`.

    `off` is the option that says no to a switch; `each` is how one of several values is written ("{stem}={value}"),
    `before` what stands before all of it; a value equal to `unsaid` is not said. `joined` puts several values into one
    word, with that between them. `also` are options that are told the same value. `alike` names another setting, which
    the program cannot have otherwise than this one.
    """

    control: Control
    option: str = ""
    variable: str = ""
    off: str = ""
    each: str = "{value}"
    before: tuple[str, ...] = ()
    unsaid: Any = None
    joined: str | None = None
    also: tuple[str, ...] = ()
    alike: str = ""


@dataclass(frozen=True)
class Saying:
    """Words of the log: they tell a stage, or a value by its name (a number, unless it is none)."""

    words: re.Pattern[str]
    stage: str = ""
    value: str = ""


@dataclass(frozen=True)
class Failing:
    """Words of the log that tell why the program ended: its code, and values beside those of the groups."""

    words: re.Pattern[str]
    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """One server program. The head of `programs.toml` says what each field means."""

    id: str
    title: str
    formats: frozenset[str]
    capabilities: frozenset[Capability]
    argv: tuple[str, ...]
    program: str
    get: str
    source: str
    package: str = ""
    script: str = ""
    entry: str = ""
    starter: str = ""
    systems: tuple[str, ...] = SYSTEMS
    vendors: frozenset[str] = frozenset()
    processor: str = "yes"
    least_compute_capability: str | None = None
    share: str = ""
    without_card: Mapping[str, Any] = field(default_factory=dict)
    unless_with: frozenset[str] = frozenset()
    key: str = "none"
    key_by: str = ""
    named_by: str = "alias"
    base_path: str = "/v1"
    health: str = "/health"
    ready_s: float | None = None
    fields: frozenset[str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    says: tuple[Saying, ...] = ()
    fails: tuple[Failing, ...] = ()
    yours: bool = False

    @property
    def by_python(self) -> bool:
        """Whether a file of ours starts it, by its own Python."""
        return bool(self.starter) or self.key == "argument"

    @property
    def controls(self) -> tuple[Control, ...]:
        """The settings that it knows."""
        return tuple(option.control for option in self.options)


def read_table(text: str, *, yours: bool = False) -> tuple[tuple[Entry, ...], tuple[Cause, ...]]:
    """The entries of a table, and what is wrong with the others; with text that is no TOML there is none.

    `yours` marks those of the user. A second entry of the same id is wrong.
    """
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        return (), (BadEntry("programs.toml", str(error), int(line[1]) if line else 0).cause,)
    except RecursionError:
        return (), (BadEntry("programs.toml", "too deep").cause,)
    made: dict[str, Entry] = {}
    wrong: list[Cause] = []
    listed = told.get("program", [])
    for values in listed if isinstance(listed, list) else [listed]:
        try:
            entry = _entry(_with_like(values, listed), yours)
            if entry.id in made:
                raise BadEntry(entry.id, "id: there are two of it")
            made[entry.id] = entry
        except BadEntry as error:
            name = str(error.cause.values["name"])
            wrong.append(BadEntry(name, str(error), line_of(text, name)).cause)
    return tuple(made.values()), tuple(wrong)


def line_of(text: str, name: str) -> int:
    """The line on which the entry `name` tells its id; 0 where it is not found."""
    wanted = re.compile(rf"""\s*id\s*=\s*["']{re.escape(name)}["']""")
    return next((number for number, line in enumerate(text.splitlines(), 1) if wanted.match(line)), 0)


def _with_like(values: object, listed: Sequence[Any]) -> object:
    """An entry that is like another one: what it does not say is said there, and so is each setting of its own name."""
    if not isinstance(values, dict) or "like" not in values:
        return values
    own = {key: value for key, value in values.items() if key not in ("like", "without", "option")}
    base = next((one for one in listed if isinstance(one, dict) and one.get("id") == values["like"]), None)
    if base is None or base is values or "like" in base:
        raise BadEntry(str(values.get("id", "?")), "like: there is no such entry above")
    changed = {str(one.get("name")): one for one in values.get("option", []) if isinstance(one, dict)}
    left = [one for one in base.get("option", []) if one.get("name") not in (*values.get("without", ()), *changed)]
    return {**base, **own, "option": [*left, *changed.values()]}


class _Told:
    """The values of one table of the file, each taken once; what is left at the end is wrong."""

    def __init__(self, name: str, values: Mapping[str, Any], of: str = "") -> None:
        self._name, self._left, self._of = name, dict(values), of

    def wrong(self, key: str, reason: str) -> BadEntry:
        """That the value of `key` cannot be so."""
        return BadEntry(self._name, f"{self._of}{key}: {reason}")

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """The value of `key`, of `kind`; `default` where there is none, which is wrong where that is Ellipsis."""
        value = self._left.pop(key, default)
        if value is ...:
            raise self.wrong(key, "is missing")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if value is not default and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            raise self.wrong(key, "is of another kind")
        return value

    def words(self, key: str, default: Any = ()) -> tuple[str, ...]:
        """A list of texts."""
        found = self.take(key, list, default)
        if not all(isinstance(one, str) and "\0" not in one for one in found):
            raise self.wrong(key, "is no list of texts")
        return tuple(found)

    def one_of(self, key: str, known: Sequence[str], default: Any = ...) -> str:
        """A text out of a list."""
        found = str(self.take(key, str, default))
        if found not in known:
            raise self.wrong(key, f"is none of {', '.join(one or repr('') for one in known)}")
        return found

    def texts(self, key: str) -> Mapping[str, str]:
        """Texts by name."""
        found = self.take(key, dict, {})
        if not all(isinstance(value, str) for value in found.values()):
            raise self.wrong(key, "is no table of texts")
        return dict(found)

    def tables(self, key: str) -> list[_Told]:
        """A list of tables."""
        found = self.take(key, list, [])
        if not all(isinstance(one, dict) for one in found):
            raise self.wrong(key, "is no list of tables")
        return [_Told(self._name, one, f"{key}: ") for one in found]

    def pattern(self, key: str) -> re.Pattern[str]:
        """A regular expression."""
        words = str(self.take(key, str, ...))
        try:
            return re.compile(words[:_MOST_WORDS], re.MULTILINE)
        except re.error as error:
            raise self.wrong(key, str(error)) from error

    def end(self) -> None:
        """All must be taken."""
        if self._left:
            raise self.wrong(min(map(str, self._left)), "is not known here")


def _entry(values: object, yours: bool) -> Entry:
    if not isinstance(values, dict):
        raise BadEntry("program", "is no table")
    name = str(values.get("id", ""))
    if not _ID.fullmatch(name):
        raise BadEntry(name or "?", "id: small letters, digits and underscores, from a letter on")
    told = _Told(name, values)
    made: dict[str, Any] = {
        **{key: str(told.take(key, str, ...)) for key in ("id", "title", "program")},
        **{key: str(told.take(key, str, "")) for key in ("get", "source", "package", "script", "entry", "key_by")},
        **{key: frozenset(told.words(key, ...)) for key in ("formats",)},
        **_of_hardware(told),
        **_of_server(told),
        "capabilities": _capabilities(told),
        "argv": _argv(told),
        "notes": told.words("notes"),
        "options": tuple(_option(one) for one in told.tables("option")),
        "says": tuple(_saying(one) for one in told.tables("says")),
        "fails": tuple(_failing(one) for one in told.tables("fails")),
        "yours": yours,
    }
    told.end()
    _consistent(told, made)
    return Entry(**made)


def _of_hardware(told: _Told) -> dict[str, Any]:
    systems = told.words("systems", list(SYSTEMS))
    if unknown := set(systems) - set(SYSTEMS):
        raise told.wrong("systems", f"{min(unknown)} is none of {', '.join(SYSTEMS)}")
    return {
        "systems": systems,
        "vendors": frozenset(told.words("vendors")),
        "processor": str(told.take("processor", str, "yes")),
        "least_compute_capability": told.take("least_compute_capability", str, None),
        "share": told.one_of("share", SHARES, ""),
        "without_card": dict(told.take("without_card", dict, {})),
        "unless_with": frozenset(told.words("unless_with")),
    }


def _of_server(told: _Told) -> dict[str, Any]:
    known = told.take("fields", list, None)
    ready_s = told.take("ready_s", (int, float), None)
    if ready_s is not None and ready_s <= 0:
        raise told.wrong("ready_s", "is no time")
    return {
        "key": told.one_of("key", KEYS, "none"),
        "starter": told.one_of("starter", STARTERS, ""),
        "named_by": told.one_of("named_by", ("alias", "model", "model_name"), "alias"),
        "base_path": str(told.take("base_path", str, "/v1")),
        "health": str(told.take("health", str, "/health")),
        "ready_s": ready_s,
        "fields": None if known is None else frozenset(map(str, known)),
        "environment": told.texts("environment"),
    }


def _capabilities(told: _Told) -> frozenset[Capability]:
    try:
        return frozenset(map(Capability, told.words("capabilities", ["chat"])))
    except ValueError as error:
        raise told.wrong("capabilities", str(error)) from error


def _argv(told: _Told) -> tuple[str, ...]:
    """The address is ours: a program that listens to the whole network is never started so."""
    words = told.words("argv", ...)
    named = {place for word in words for place in _PLACE.findall(word)}
    if unknown := named - _PLACES:
        raise told.wrong("argv", f"{{{min(unknown)}}} is none of {', '.join(sorted(_PLACES))}")
    if "port" not in named or not {"model", "model_name"} & named:
        raise told.wrong("argv", "{port} and {model} must stand in it")
    if any("0.0.0.0" in word or word in ("::", "[::]", "*") for word in words):
        raise told.wrong("argv", "the address is 127.0.0.1")
    return words


def _consistent(told: _Told, made: Mapping[str, Any]) -> None:
    names = [option.control.name for option in made["options"]]
    if twice := {name for name in names if names.count(name) > 1}:
        raise told.wrong("option", f"there are two of {min(twice)}")
    if made["key"] != "none" and not made["key_by"]:
        raise told.wrong("key_by", "is missing")
    if made["starter"] and not made["package"]:
        raise told.wrong("package", "is missing: it is started by the Python of that package")
    if made["key"] == "argument" and not made["entry"]:
        raise told.wrong("entry", "is missing: the key must not stand on the command line")
    if made["share"] and "memory_share" not in names:
        raise told.wrong("share", "there is no option memory_share")
    if unknown := set(made["without_card"]) - set(names):
        raise told.wrong("without_card", f"there is no option {min(unknown)}")
    if not made["formats"] or not made["program"] or not made["title"]:
        raise told.wrong("formats", "formats, program and title cannot be empty")


def _option(told: _Told) -> Option:
    control = _control(told)
    option = Option(
        control,
        option=str(told.take("option", str, "")),
        variable=str(told.take("variable", str, "")),
        off=str(told.take("off", str, "")),
        each=str(told.take("each", str, "{value}")),
        before=told.words("before"),
        unsaid=told.take("unsaid", (int, float, str, bool), None),
        joined=told.take("joined", str, None),
        also=told.words("also"),
        alike=str(told.take("alike", str, "")),
    )
    told.end()
    said = option.option or option.variable or option.alike or option.off
    if not said and control.kind is not Kind.LINES:
        raise told.wrong(control.name, "neither option nor variable")
    return option


def _control(told: _Told) -> Control:
    name = str(told.take("name", str, ...))
    if not _NAME.fullmatch(name):
        raise told.wrong("name", f"{name!r} is no name")
    kind = Kind(told.one_of("kind", [str(kind) for kind in Kind]))
    choices = told.words("choices")
    if (kind is Kind.CHOICE) != bool(choices):
        raise told.wrong(name, "choices go with the kind choice")
    changes = told.words("changes", ["speed"])
    try:
        changed = frozenset(map(Change, changes))
    except ValueError as error:
        raise told.wrong(name, str(error)) from error
    return Control(
        name=name,
        group=str(told.take("group", str, "engine")),
        kind=kind,
        parameter=name,
        changes=changed,
        home=Home.FIELD if name in FIELDS else Home.EXTRA,
        low=told.take("low", (int, float), None),
        high=told.take("high", (int, float), None),
        unit=str(told.take("unit", str, "")),
        choices=choices,
        default=told.take("default", (int, float, str, bool), None),
    )


def _saying(told: _Told) -> Saying:
    saying = Saying(told.pattern("words"), str(told.take("stage", str, "")), str(told.take("value", str, "")))
    told.end()
    if bool(saying.stage) == bool(saying.value) or (saying.value and not saying.words.groups):
        raise told.wrong("words", "either a stage, or a value and a group")
    return saying


def _failing(told: _Told) -> Failing:
    failing = Failing(told.pattern("words"), str(told.take("code", str, ...)), dict(told.take("values", dict, {})))
    told.end()
    return failing
