"""Names of cards as people type them, compared whole but for what people leave out.

Left out are makers' words, filling words ("graphics", "edition"), spaces, and the size of memory and the count of
cores, which are read apart. A card also goes by its number alone ("4090", "7900 xtx", "B580") where one product has it,
and a server's card without the form of its board ("A100 80GB"). A laptop part answers to a laptop's name alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from weighbridge.hardware.machine import MemoryKind
from weighbridge.hardware.rows import Row, without_marks

_SIZE = re.compile(r"(?<![\w.])(\d{1,4})\s*gi?b\b")
_CORES = re.compile(r"(?<![\w.])(\d{1,3})[\s-]*c(?:ores?)?\b(?:[\s-]*gpu\b)?")
_BRACKETS = re.compile(r"\([^()]*\)")
_WORD = re.compile(r"[a-z0-9+]+")
_MAKERS = {"nvidia", "amd", "intel", "apple", "geforce", "radeon", "instinct", "tesla"}
_FILLING = {
    "gpu",
    "graphics",
    "card",
    "desktop",
    "generation",
    "edition",
    "workstation",
    "ws",
    "blackwell",
    "with",
    "design",
}
_LAPTOP = {"laptop", "mobile", "notebook"}
_LINES = {"rtx", "gtx", "rx", "arc", "pro", "ai"}
_BOARDS = {"pcie", "sxm", "hbm3"}
_SXM = re.compile(r"sxm\d")


@dataclass(frozen=True)
class Typed:
    """A name taken apart: its words that count, and what else it tells."""

    words: tuple[str, ...]
    memory_gib: float | None
    cores: int | None

    @property
    def key(self) -> str:
        """What is compared."""
        return "".join(self.words)

    @property
    def of_laptop(self) -> bool:
        """Whether it names a part for laptops."""
        return "laptop" in self.words or self.words[-2:] == ("max", "q")

    @property
    def short(self) -> str:
        """The name without the line of products in front of it, or "" where it has none."""
        if len(self.words) < 2 or self.words[0] not in _LINES:
            return ""
        rest = self.words[1:]
        while len(rest) > 1 and rest[0] in _LINES and not rest[1].isdigit():
            rest = rest[1:]
        return "".join(rest)

    @property
    def boardless(self) -> str:
        """The name without the form of its board."""
        return "".join(word for word in self.words if word not in _BOARDS)


@lru_cache(maxsize=4096)
def taken_apart(name: str) -> Typed:
    """The name of a card as typed, or as a driver or a shop has it."""
    plain = without_marks(name).rpartition(" w/ ")[2]
    size, cores = _SIZE.search(plain), _CORES.search(plain)
    rest = _BRACKETS.sub(" ", _CORES.sub(" ", _SIZE.sub(" ", plain)))
    words = [_SXM.sub("sxm", word) for word in _WORD.findall(rest) if word not in _MAKERS]
    kept = [word for word in words if word not in _FILLING | _LAPTOP]
    if len(kept) == 1 and kept[0] in _LINES:
        # "Arc Graphics" is a product; "Arc" is the name of many.
        kept = [*kept, "graphics"] if "graphics" in words else []
    kept += ["laptop"] if _LAPTOP.intersection(words) else []
    return Typed(tuple(kept), float(size[1]) if size else None, int(cores[1]) if cores else None)


def rows_named(rows: Sequence[Row], name: str) -> list[Row]:
    """The products that a typed name means: more than one where they differ by what it does not tell. Empty: none."""
    asked = taken_apart(name)
    if not asked.key:
        return []
    found = _having(rows, asked.key, _keys) or _having(rows, asked.key, _driver_keys)
    found = found or _one_product(_having(rows, asked.key, _short_keys)) or _having(rows, asked.key, _boardless_keys)
    if asked.cores is not None:
        found = [row for row in found if row.gpu_cores == asked.cores]
    return _of_size(found, asked)


def is_laptop(row: Row) -> bool:
    """Whether it is a part for laptops."""
    return taken_apart(row.name).of_laptop and "workstation" not in row.driver_name.casefold()


def keys_of(row: Row) -> set[str]:
    """All that a product answers to."""
    return _keys(row) | _short_keys(row)


def _having(rows: Iterable[Row], key: str, keys: Callable[[Row], set[str]]) -> list[Row]:
    return [row for row in rows if key in keys(row)]


def _names(row: Row) -> list[Typed]:
    """Drivers give some laptop parts the name of the desktop part: it is not theirs as long as that one has it."""
    typed = [taken_apart(name) for name in (row.name, *row.driver_names, *row.also_called)]
    return [name for name in typed if name.of_laptop] if is_laptop(row) else typed


def _keys(row: Row) -> set[str]:
    return {name.key for name in _names(row)}


def _driver_keys(row: Row) -> set[str]:
    return {taken_apart(name).key for name in row.driver_names}


def _short_keys(row: Row) -> set[str]:
    return {name.short for name in _names(row)} - {""}


def _boardless_keys(row: Row) -> set[str]:
    return {name.boardless for name in _names(row)}


def _one_product(rows: list[Row]) -> list[Row]:
    return rows if len({row.driver_name for row in rows}) == 1 else []


def _of_size(rows: list[Row], asked: Typed) -> list[Row]:
    """Those with the memory asked for; where none is, with that of the product whose name tells no size."""
    if asked.memory_gib is not None:
        return [
            row for row in rows if row.memory_gib in (asked.memory_gib, None) or row.kind is not MemoryKind.DEDICATED
        ]
    named = [taken_apart(row.name) for row in rows]
    plain = {
        row.memory_gib
        for row, name in zip(rows, named, strict=True)
        if name.memory_gib is None and asked.key in (name.key, name.short)
    }
    return [row for row in rows if row.memory_gib in plain] if len(plain) == 1 else rows
