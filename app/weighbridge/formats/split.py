"""Files that are one part of a model: NAME-00001-of-00003.gguf, and those that only make a file when joined."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r"^(?P<stem>.+?)(?P<mark>-split)?-(?P<number>\d{5})-of-(?P<count>\d{5})$", re.IGNORECASE)
_PIECES = (
    re.compile(r"^(?P<stem>.+)\.gguf\.part[-_]?(?P<number>\d{1,4})[-_]?of[-_]?(?P<count>\d{1,4})$", re.IGNORECASE),
    re.compile(r"^(?P<stem>.+)-chunk-(?P<number>\d{1,4})-of-(?P<count>\d{1,4})\.gguf$", re.IGNORECASE),
    re.compile(r"^(?P<stem>.+)\.gguf-split-(?P<letter>[a-z])$", re.IGNORECASE),
)


@dataclass(frozen=True)
class Part:
    """One part of a set, by its name: `number` of `count`, from 1."""

    stem: str
    mark: str
    number: int
    count: int

    def name(self, number: int) -> str:
        """The stem of the file that holds part `number` of the same set."""
        return f"{self.stem}{self.mark}-{number:05}-of-{self.count:05}"


@dataclass(frozen=True)
class Piece:
    """A slice of a file's bytes, by its name: it is no model until all slices are joined. `count` is None if untold."""

    stem: str
    number: int
    count: int | None


def part_of_name(stem: str) -> Part | None:
    """The part that a file's stem names, or None for a file that is whole."""
    found = _PART.match(stem)
    if found is None:
        return None
    number, count = int(found["number"]), int(found["count"])
    if not 1 <= number <= count:
        return None
    return Part(found["stem"], found["mark"] or "", number, count)


def piece_of_name(name: str) -> Piece | None:
    """The slice that a file's whole name names (NAME.gguf.part1of2, NAME.gguf-split-a), or None."""
    found = next((match for form in _PIECES if (match := form.match(name))), None)
    if found is None:
        return None
    told = found.groupdict()
    if "letter" in told:
        return Piece(found["stem"], ord(found["letter"].lower()) - ord("a") + 1, None)
    number, count = int(found["number"]), int(found["count"])
    return Piece(found["stem"], number, count) if 1 <= number <= count else None
