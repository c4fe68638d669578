"""What the Advisor knows before it looks at anything: engines, formats, machines and loads, out of `advice.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from weighbridge_resources import path

_TABLE = "advice.toml"


@dataclass(frozen=True)
class Known:
    """One engine, as the head of the table explains each field."""

    id: str
    title: str
    systems: frozenset[str]
    cards: Mapping[str, str] = field(default_factory=dict)
    processor: bool = False
    maker: str = ""
    formats: frozenset[str] = frozenset()
    can: frozenset[str] = frozenset()
    serves: bool = False
    reserves: float | None = None
    archived: bool = False
    agpl: bool = False
    preset: str = ""
    small_cache: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the guide: the engines to take first, any of which will do, and those to think of beside them."""

    first: tuple[str, ...]
    also: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Both, in order."""
        return (*self.first, *self.also)


@dataclass(frozen=True)
class Knowledge:
    """All of it. `kernels`: from which compute capability on NVIDIA's cards multiply in a format themselves; `needs`:
    from which on they can run it at all.
    """

    engines: Mapping[str, Known]
    kernels: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, str] = field(default_factory=dict)
    hardware: Mapping[str, Row] = field(default_factory=dict)
    loads: Mapping[str, Row] = field(default_factory=dict)


def read_knowledge(text: str) -> Knowledge:
    """The table `text`."""
    table = tomllib.loads(text)
    return Knowledge(
        {engine_id: _known(engine_id, entry) for engine_id, entry in table["engine"].items()},
        dict(table["kernel"]),
        dict(table["needs"]),
        {kind: _row(entry) for kind, entry in table["hardware"].items()},
        {kind: _row(entry) for kind, entry in table["load"].items()},
    )


@cache
def knowledge() -> Knowledge:
    """What ships with the program; read once, and never changed."""
    return read_knowledge(path(_TABLE).read_text(encoding="utf-8"))


def _known(engine_id: str, entry: Mapping[str, Any]) -> Known:
    lists = {name: frozenset(value) for name, value in entry.items() if isinstance(value, list)}
    return Known(engine_id, **{**entry, **lists})


def _row(entry: Mapping[str, Any]) -> Row:
    return Row(tuple(entry["first"]), tuple(entry["also"]))
