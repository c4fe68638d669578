"""Kinds of servers that can be added, as data: where they usually are, and how they are spoken to."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from weighbridge.hub.addresses import Origin, origin_of
from weighbridge_engines.api import Dialect, Engine
from weighbridge_engines.endpoint import FIELDS, of
from weighbridge_resources import path

_TABLE = "endpoints.toml"
OTHER = "other"
"""The preset of a server of which nothing more is known than that it speaks as OpenAI's API does."""


class Key(StrEnum):
    """Whether a server asks for a key."""

    NONE = "none"
    OPTIONAL = "optional"
    NEEDED = "needed"


class Ready(StrEnum):
    """What is asked before a model counts as ready. A server paid by the token is asked nothing."""

    TOKEN = "token"
    HEALTH = "health"
    MODELS = "models"
    NOTHING = "nothing"


class KnownBy(StrEnum):
    """How it is known how a kind of server is spoken to."""

    TRIED = "tried"
    SOURCE = "source"
    DOCUMENTATION = "documentation"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Preset:
    """One kind of server. `address` is where it is by default, "" where everybody has their own; `local`: it is usually
    run on one's own machines; `known_by`: how all this is known.

    `fields` are those of a request that it understands, None for any; `lacks` those of OpenAI's that it does not;
    `limit` is its name for the field that limits an answer. Routes below its origin: `health`, whether it can be asked;
    `further`, a list that tells more of models; `each`, which tells more of one.
    """

    id: str
    title: str
    known_by: KnownBy
    address: str
    base_path: str
    local: bool
    key: Key
    ready: Ready
    health: str = ""
    further: str = ""
    each: str = ""
    limit: str = Dialect().limit
    fields: frozenset[str] | None = FIELDS
    lacks: tuple[str, ...] = ()

    def engine(self, title: str, base_path: str) -> Engine:
        """The engine over one such server."""
        return of(title, base_path, self.fields, self.health, self.limit)


@cache
def presets() -> Mapping[str, Preset]:
    """All of them by id, in the order of the table."""
    return read_presets(path(_TABLE).read_text(encoding="utf-8"))


def read_presets(text: str) -> Mapping[str, Preset]:
    """The presets of a table."""
    return {name: _preset(name, values) for name, values in tomllib.loads(text).items()}


def _preset(name: str, values: Mapping[str, object]) -> Preset:
    told = dict(values)
    any_field, also, lacks = (told.pop(each, default) for each, default in _FIELDS)
    assert isinstance(also, list) and isinstance(lacks, list)
    known = None if any_field else (FIELDS | set(also)) - set(lacks)
    key, ready = Key(str(told.pop("key"))), Ready(str(told.pop("ready")))
    known_by = KnownBy(str(told.pop("known_by")))
    rest = {"fields": known, "lacks": tuple(lacks), **told}
    return Preset(id=name, key=key, ready=ready, known_by=known_by, **rest)  # type: ignore[arg-type] # fields by name


_FIELDS: tuple[tuple[str, object], ...] = (("all_fields", False), ("also", []), ("lacks", []))


def preset_for(origin: Origin) -> Preset:
    """What a server at `origin` most likely is: a hosted one by its name, one of one's own by a port that no other
    preset has.
    """
    known = [(each, origin_of(each.address)) for each in presets().values() if each.address]
    for preset, place in known:
        if not preset.local and place.host == origin.host:
            return preset
    same = [preset for preset, place in known if preset.local and place.port == origin.port]
    return same[0] if len(same) == 1 else presets()[OTHER]
