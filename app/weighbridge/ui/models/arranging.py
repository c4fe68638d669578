"""The rows of the Library in the order in which they are shown. Pure, so that a large library is put in order by any
thread. No Qt here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from weighbridge.library.model import OWN
from weighbridge.ui.models.library_row import Column, LibraryRow, sort_key
from weighbridge.ui.models.ordering import in_order

Test = Callable[[LibraryRow], bool]


class View(NamedTuple):
    """What rows are sorted by, and narrowed to: those that hold all words, and pass the test."""

    column: Column = Column.MODEL
    descending: bool = False
    words: tuple[str, ...] = ()
    test: Test | None = None


class Arranged(NamedTuple):
    """`rows` with their places by model id, the order in which `view` shows them, by what `view` sorts each, what is
    found of each by words, the places of those that need a runner, and the columns that tell something.
    """

    rows: list[LibraryRow]
    view: View
    order: list[int]
    keys: list[tuple[bool, float | str]]
    places: dict[str, int]
    searched: list[str]
    needing: set[int]
    used: set[Column]


def arranged(rows: Sequence[LibraryRow], view: View = View()) -> Arranged:  # noqa: B008 - it never changes
    """All that a table of `rows` needs."""
    made = Arranged(
        rows=list(rows),
        view=view,
        order=[],
        keys=list(map(sort_key(view.column), rows)),
        places={row.model.id: place for place, row in enumerate(rows)},
        searched=[row.searched for row in rows],
        needing=set(),
        used=set(),
    )
    note_use(made, dict(enumerate(rows)))
    return arranged_anew(made, view)


def arranged_anew(made: Arranged, view: View) -> Arranged:
    """The same rows as `view` shows them."""
    keys = made.keys if view.column is made.view.column else list(map(sort_key(view.column), made.rows))
    return made._replace(view=view, keys=keys, order=in_order(_kept(made, view), keys, descending=view.descending))


def note_use(made: Arranged, rows: Mapping[int, LibraryRow]) -> None:
    """Note which columns tell something, by these rows, which are new at their places."""
    usual = next((row.model.format for row in made.rows if row.model.remote is None), "")
    for place, row in rows.items():
        (made.needing.add if row.runner else made.needing.discard)(place)
        if row.mark.used_s is not None:
            made.used.add(Column.USED)
        if row.model.source != OWN:
            made.used.add(Column.SOURCE)
        if row.model.remote is None and row.model.format != usual:
            made.used.add(Column.FORMAT)


def _kept(made: Arranged, view: View) -> Sequence[int]:
    """The places of the rows that pass."""
    places: Sequence[int] = range(len(made.rows))
    if view.test is not None:
        places = [place for place in places if view.test(made.rows[place])]
    for word in view.words:
        places = [place for place in places if word in made.searched[place]]
    return places
