"""The base model that is open: its repositories, what was seen of each, and the rows that come of it. No Qt here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from weighbridge.choices.offered import Offered, offered
from weighbridge.hub.layout import Shelf
from weighbridge.hub.looking import Sight, Spot, Whole
from weighbridge.hub.remote import Repository
from weighbridge.library.model import Model
from weighbridge.ui.discover.looks import place_of

MOST_ROWS = 1_000
"""Choices of one base model that are shown: 1,000 are drawn in some 20 ms."""


@dataclass
class Opened:
    """`spots` are where its choices lie, branches that a look has told of not among them. `wholes` is what the whole
    headers told that were read, by the key of their row; the headers themselves, which are some MiB, are kept of the
    last row alone. `is_asked`: the Hub has told which other repositories hold it. `left_out` is how many choices the
    last `rows` did not have, for there were too many.
    """

    title: str
    spots: Sequence[Spot] = ()
    is_asked: bool = False
    wholes: dict[str, Whole] = field(default_factory=dict)
    left_out: int = 0
    _without_heads: set[str] = field(default_factory=set)
    _made: dict[str, tuple[Sight, tuple[Model, ...], tuple[Offered, ...]]] = field(default_factory=dict)

    def rows(
        self, sights: Mapping[str, Sight], shelf: Callable[[Repository], Shelf], models: tuple[Model, ...]
    ) -> tuple[Offered, ...]:
        """The choices as they are known now, MOST_ROWS at most. A row that did not change is the same as before."""
        found: dict[str, Offered] = {}
        self.left_out = 0
        for spot in self.spots:
            if len(found) < MOST_ROWS:
                for row in self._of(spot, sights, shelf, models, 0):
                    found.setdefault(row.key, row)
            elif (sight := sights.get(place_of(spot))) is not None:
                self.left_out += len(sight.offers) + sight.left_out
        self.left_out += max(0, len(found) - MOST_ROWS)
        return tuple(islice(found.values(), MOST_ROWS))

    def learn(self, key: str, whole: Whole) -> None:
        """The whole header of a row was read."""
        for other, known in self.wholes.items():
            if known.heads:
                self.wholes[other] = replace(known, heads=())
                self._without_heads.add(other)
        self.wholes[key] = whole
        self._without_heads.discard(key)
        for place, (sight, models, rows) in self._made.items():
            if any(row.key == key for row in rows):
                told = tuple(self._with_whole(row) if row.key == key else row for row in rows)
                self._made[place] = sight, models, told

    def forget(self) -> None:
        """What was told holds no more: other files may be there."""
        for told in (self.wholes, self._without_heads, self._made):
            told.clear()

    def is_whole(self, key: str) -> bool:
        """Whether the whole header of a row was read, and is still here."""
        return key in self.wholes and key not in self._without_heads

    def _of(
        self,
        spot: Spot,
        sights: Mapping[str, Sight],
        shelf: Callable[[Repository], Shelf],
        models: tuple[Model, ...],
        depth: int,
    ) -> Iterator[Offered]:
        sight = sights.get(place_of(spot))
        if sight is None or depth > 1:
            yield Offered(spot)
            return
        self.left_out += sight.left_out
        made = self._made.get(place_of(spot))
        if made is None or made[0] is not sight or made[1] is not models:
            rows = offered(sight, shelf(sight.repository), models)
            known = {row.key: row for row in made[2]} if made and made[0] is sight else {}
            rows = tuple(_as_before(row, known.get(row.key)) or self._with_whole(row) for row in rows)
            made = self._made[place_of(spot)] = sight, models, rows
        for row in made[2]:
            if row.offer is None:
                yield from self._of(row.spot, sights, shelf, models, depth + 1)
            else:
                yield row

    def _with_whole(self, row: Offered) -> Offered:
        whole = self.wholes.get(row.key)
        if whole is None or row.offer is None or row.model is None:
            return row
        return replace(row, offer=replace(row.offer, info=whole.info), model=replace(row.model, info=whole.info))


def _as_before(row: Offered, known: Offered | None) -> Offered | None:
    """With the model that it had, which is weighed already: only whether it is here may have changed."""
    return None if known is None else replace(known, here=row.here)
