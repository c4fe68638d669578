"""A row of the Library: what each column shows of it, what it is sorted by, what is found in it. No Qt here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from weighbridge.base.units import number, size
from weighbridge.base.words import text
from weighbridge.estimates.fit import WHOLE
from weighbridge.library.marks import Mark
from weighbridge.library.model import Model
from weighbridge.running.state import Running
from weighbridge.ui import weight
from weighbridge.ui.elsewhere_words import where_it_goes
from weighbridge.ui.models.weighed import UNKNOWN, Weighed, by_fit, by_need, by_speed
from weighbridge.ui.moments import last_used
from weighbridge.ui.running_words import badge_of, word_of
from weighbridge.ui.source_words import format_in_words, whose_in_words

_UNMARKED = Mark()
_SAME = 0.01
"""A file that takes so little more or less of the disk than its size takes its size: the rest is whole blocks."""


class Column(IntEnum):
    """The columns from the left."""

    MODEL = 0
    SOURCE = 1
    FORMAT = 2
    QUANT = 3
    SIZE = 4
    DISK = 5
    CONTEXT = 6
    MEMORY = 7
    FIT = 8
    SPEED = 9
    RUNNER = 10
    USED = 11
    STATE = 12


NUMBERS = (Column.SIZE, Column.DISK, Column.CONTEXT, Column.MEMORY, Column.SPEED)
_GLIMPSE = (Column.MODEL, Column.SOURCE, Column.FORMAT, Column.QUANT, Column.SIZE, Column.CONTEXT)
WEIGHED = (Column.MEMORY, Column.FIT, Column.SPEED, Column.RUNNER)
"""What changes where a model is weighed anew."""
ELSEWHERE = (Column.SOURCE, Column.FORMAT, Column.QUANT, Column.SIZE, Column.DISK, Column.MEMORY, Column.FIT)
"""What says of a model that is served elsewhere that it is there, and nothing of it here."""


@dataclass(frozen=True)
class LibraryRow(Weighed):
    """A weighed model, its engine process where there is one, what is written on it.

    `disk` is the room that models take, by their ids: one mapping for all rows, filled as it becomes known, so that no
    row need be made anew for it.
    """

    running: Running | None = None
    mark: Mark = _UNMARKED
    disk: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def disk_bytes(self) -> int | None:
        """The room it takes on the disk; None: not known yet."""
        return self.disk.get(self.model.id)

    @property
    def badge(self) -> tuple[str, str] | None:
        """The badge of its state: damaged, or what its engine does; None for a file that just lies there."""
        if self.model.problem is not None:
            return "no", text("Damaged")
        if self.running is None:
            return None
        return badge_of(self.running)[0], word_of(self.running)

    @property
    def context(self) -> int | None:
        """The longest context that it was trained for, or that its server tells, in tokens."""
        if self.model.remote is not None:
            return self.model.remote.context
        return self.model.info.context_length if self.model.info else None

    @property
    def fits(self) -> bool:
        """Whether it can be loaded whole as things stand."""
        fit = self.choice.fit if self.choice else None
        return self.model.problem is None and fit is not None and fit.verdict in WHOLE

    @property
    def differs_on_disk(self) -> bool:
        """Whether it takes more or less of the disk than its size."""
        size_bytes = self.model.size_bytes
        return self.disk_bytes is not None and abs(self.disk_bytes - size_bytes) > max(1 << 20, size_bytes * _SAME)

    @property
    def searched(self) -> str:
        """All that is found by words."""
        model = self.model
        source, place = whose_in_words(model), str(model.path) if model.remote is None else ""
        told = (model.title, format_in_words(model), model.quant or "", source, self.mark.note, place)
        return " ".join(told).casefold()


def shown(row: LibraryRow, column: Column) -> str:
    """What stands in a cell; "" for nothing."""
    return _SHOWN[column](row)


def glimpses(models: Iterable[Model]) -> Iterator[tuple[str, ...]]:
    """What is said of `models` before any of them is weighed, by their titles; see `ui/glimpse.py`."""
    rows = sorted(map(LibraryRow, models), key=sort_key(Column.MODEL))
    return (tuple(shown(row, column) for column in _GLIMPSE) for row in rows)


def sort_key(column: Column) -> Callable[[LibraryRow], tuple[bool, float | str]]:
    """What rows are sorted by, unknown last."""
    return _SORTED[column]


def tip(row: LibraryRow, column: Column) -> str | None:
    """What is said of a cell where somebody points at it; None for nothing."""
    if row.model.remote is not None and column in ELSEWHERE:
        return where_it_goes(row.model.remote)
    if column in (Column.MEMORY, Column.FIT):
        return weight.basis(row.choice) if row.choice else None
    if column is Column.MODEL:
        return row.mark.note or None
    if column is Column.USED and row.mark.used_s is not None:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(row.mark.used_s))
    return _disk_tip(row) if column in (Column.SIZE, Column.DISK) else None


def _disk_tip(row: LibraryRow) -> str | None:
    if not row.differs_on_disk:
        return None
    return text(
        "The files say {size}; they take {disk} of the disk.",
        size=size(row.model.size_bytes),
        disk=size(row.disk_bytes),
    )


def _of_file(shown: Callable[[LibraryRow], str]) -> Callable[[LibraryRow], str]:
    """What is shown of files alone: a dash where there is none here."""
    return lambda row: shown(row) if row.model.remote is None else UNKNOWN


def _context(row: LibraryRow) -> str:
    if row.context is not None:
        return number(row.context)
    return text("unknown") if row.model.remote is None else UNKNOWN


def _disk(row: LibraryRow) -> str:
    return "" if row.disk_bytes is None else size(row.disk_bytes)


def _whose(row: LibraryRow) -> str:
    return row.model.source if row.model.remote is None else row.model.remote.endpoint.casefold()


def _by_size(row: LibraryRow) -> tuple[bool, float | str]:
    return row.model.remote is not None, row.model.size_bytes


_SHOWN: Mapping[Column, Callable[[LibraryRow], str]] = {
    Column.MODEL: lambda row: row.model.title,
    Column.SOURCE: lambda row: whose_in_words(row.model),
    Column.FORMAT: lambda row: format_in_words(row.model),
    Column.QUANT: _of_file(lambda row: row.model.quant or text("unknown")),
    Column.SIZE: _of_file(lambda row: size(row.model.size_bytes)),
    Column.DISK: _of_file(_disk),
    Column.CONTEXT: _context,
    Column.MEMORY: lambda row: row.figure,
    Column.FIT: lambda row: row.fit_badge[1] if row.fit_badge else "",
    Column.SPEED: lambda row: row.pace,
    Column.RUNNER: lambda row: row.runner,
    Column.USED: lambda row: last_used(row.mark.used_s, time.time()),
    Column.STATE: lambda row: row.badge[1] if row.badge else "",
}

_SORTED: Mapping[Column, Callable[[LibraryRow], tuple[bool, float | str]]] = {
    Column.MODEL: lambda row: (False, row.model.title.casefold()),
    Column.SOURCE: lambda row: (row.model.remote is not None, _whose(row)),
    Column.FORMAT: lambda row: (False, row.model.format),
    Column.QUANT: lambda row: (row.model.quant is None, row.model.quant or ""),
    Column.SIZE: _by_size,
    Column.DISK: lambda row: (row.disk_bytes is None, row.disk_bytes or 0),
    Column.CONTEXT: lambda row: (row.context is None, row.context or 0),
    Column.MEMORY: by_need,
    Column.FIT: by_fit,
    Column.SPEED: by_speed,
    Column.RUNNER: lambda row: (not row.runner, row.runner),
    Column.USED: lambda row: (row.mark.used_s is None, -(row.mark.used_s or 0)),
    Column.STATE: lambda row: (row.badge is None, row.badge[1] if row.badge else ""),
}
