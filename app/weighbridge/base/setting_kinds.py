"""What a setting may be, and how it is told: a field of `Settings` carries one of these.

Checks and the page Settings both follow from it, so that a new field is checked and shown by itself. Titles,
descriptions, units and words of choices are marked texts, translated when shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from typing import Any

_KEY = "kind"
_SAFE = re.compile(r"https://[^\s/?#@\\]+(/[^\s?#@\\]*)?", re.IGNORECASE)
_LOOPBACK = re.compile(r"http://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?(/[^\s?#@\\]*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Kind:
    """Any text or None, kept and not shown, unless a subclass says more. `group` is the heading it stands under."""

    title: str = ""
    description: str = ""
    group: str = ""

    def accepts(self, value: object) -> bool:
        """Whether a setting of this kind can be `value`."""
        return value is None or isinstance(value, str)


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few values; `words` names them, in order."""

    words: Mapping[str, str] = field(default_factory=dict)

    def accepts(self, value: object) -> bool:
        """Whether it is one of them."""
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True)
class Number(Kind):
    """A whole number from `low` to `high`, in `unit`; None too, where `none` has a word for it."""

    low: int = 0
    high: int = 1 << 31
    step: int = 1
    unit: str = ""
    none: str = ""

    def accepts(self, value: object) -> bool:
        """Whether it is such a number."""
        if value is None:
            return bool(self.none)
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high


@dataclass(frozen=True)
class Switch(Kind):
    """On or off."""

    def accepts(self, value: object) -> bool:
        """Whether it is one of the two."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class Address(Kind):
    """The https address of a server, or http on this machine; None: `none` says what is used then."""

    none: str = ""

    def accepts(self, value: object) -> bool:
        """Whether it is such an address, without a user's name, a query or a fragment."""
        if value is None:
            return True
        return isinstance(value, str) and bool(_SAFE.fullmatch(value) or _LOOPBACK.fullmatch(value))


@dataclass(frozen=True)
class Folders(Kind):
    """Paths of folders, as the user wrote them."""

    def accepts(self, value: object) -> bool:
        """Whether these could be paths."""
        return isinstance(value, tuple) and all(isinstance(item, str) and item and "\0" not in item for item in value)


def setting(default: Any, kind: Kind) -> Any:
    """A field of `Settings` with its default."""
    return field(default=default, metadata={_KEY: kind})


def kind_of(one: Field[Any]) -> Kind:
    """The kind of a field made by `setting`."""
    kind = one.metadata[_KEY]
    assert isinstance(kind, Kind)
    return kind
