"""Files that are one part of a model: NAME-00001-of-00003.gguf."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r"^(?P<stem>.+?)(?P<mark>-split)?-(?P<number>\d{5})-of-(?P<count>\d{5})$", re.IGNORECASE)


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


def part_of_name(stem: str) -> Part | None:
    """The part that a file's stem names, or None for a file that is whole."""
    found = _PART.match(stem)
    if found is None:
        return None
    number, count = int(found["number"]), int(found["count"])
    if not 1 <= number <= count:
        return None
    return Part(found["stem"], found["mark"] or "", number, count)
