"""A base model as the list at the left shows it. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.base.units import number
from weighbridge.base.words import plural


@dataclass(frozen=True)
class GroupRow:
    """`key` tells it from all others. `formats` and `choices` are what is known so far, None: nothing yet. `badge` is
    the kind and the words of what of it fits; `reason` is why it is offered, where it was not searched for.
    """

    key: str
    title: str
    formats: int = 0
    choices: int | None = None
    badge: tuple[str, str] | None = None
    reason: str = ""
    is_looked_at: bool = False

    @property
    def detail(self) -> str:
        """ "4 formats · 31 choices", or the reason."""
        said = [plural("{count} format", "{count} formats", self.formats, count=number(self.formats))]
        if not self.formats:
            said = []
        if self.choices is not None:
            said.append(plural("{count} choice", "{count} choices", self.choices, count=number(self.choices)))
        return " · ".join(said)

    @property
    def spoken(self) -> str:
        """All of it, for who cannot see it."""
        return ". ".join(part for part in (self.title, self.detail, self.badge and self.badge[1], self.reason) if part)


def in_order_of(rows: Sequence[GroupRow], keys: Sequence[str]) -> list[GroupRow]:
    """`rows` as they stand in `keys`, others after them."""
    places = {key: place for place, key in enumerate(keys)}
    return sorted(rows, key=lambda row: places.get(row.key, len(places)))


def same_keys(one: Sequence[GroupRow], other: Sequence[GroupRow]) -> bool:
    """Whether both lists are of the same base models in the same order."""
    return [row.key for row in one] == [row.key for row in other]
