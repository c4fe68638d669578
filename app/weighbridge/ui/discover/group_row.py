"""A base model as the list at the left shows it. No Qt here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weighbridge.base.units import number
from weighbridge.base.words import plural, text

_BETWEEN = " · "


@dataclass(frozen=True)
class GroupRow:
    """`key` tells it from all others. `formats` and `choices` are what is known so far, None: nothing yet. `badge` is
    the kind and the words of what of it fits; `reason` is why it is offered, where it was not searched for. `is_all`:
    all repositories and branches of it were looked into.
    """

    key: str
    title: str
    formats: int = 0
    choices: int | None = None
    badge: tuple[str, str] | None = None
    reason: str = ""
    is_looked_at: bool = False
    is_all: bool = True

    @property
    def detail(self) -> str:
        """ "4 formats · 31 choices", or "31+ choices" where there may be more."""
        said = [plural("{count} format", "{count} formats", self.formats, count=number(self.formats))]
        if not self.formats:
            said = []
        if self.choices is not None:
            said.append(self._choices_in_words(self.choices))
        return _BETWEEN.join(said)

    @property
    def tip(self) -> str:
        """All that is not to be seen of it at once."""
        more = text("Counted where it was looked into so far. Open it to have all looked into.")
        told = more if self.choices is not None and not self.is_all else ""
        return "\n".join(part for part in (self.title, self.reason, told) if part)

    def _choices_in_words(self, count: int) -> str:
        if self.is_all:
            return plural("{count} choice", "{count} choices", count, count=number(count))
        return plural("{count}+ choice", "{count}+ choices", count, count=number(count))

    @property
    def spoken(self) -> str:
        """All of it, for who cannot see it."""
        return ". ".join(part for part in (self.title, self.detail, self.badge and self.badge[1], self.reason) if part)


def fitting(said: str, is_room: Callable[[str], bool]) -> str:
    """As many of the parts of `said`, from the first on, as there is room for; the first at least."""
    parts = said.split(_BETWEEN)
    while len(parts) > 1 and not is_room(_BETWEEN.join(parts)):
        parts.pop()
    return _BETWEEN.join(parts)


def in_order_of(rows: Sequence[GroupRow], keys: Sequence[str]) -> list[GroupRow]:
    """`rows` as they stand in `keys`, others after them."""
    places = {key: place for place, key in enumerate(keys)}
    return sorted(rows, key=lambda row: places.get(row.key, len(places)))


def same_keys(one: Sequence[GroupRow], other: Sequence[GroupRow]) -> bool:
    """Whether both lists are of the same base models in the same order."""
    return [row.key for row in one] == [row.key for row in other]
