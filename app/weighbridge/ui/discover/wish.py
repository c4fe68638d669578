"""What the user looks for, and how that is asked: what the Hub can leave out, it does, the rest is left out here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbridge.hub.hits import FORMATS, Query, Sort

BILLION = 10**9
SIZES: Sequence[tuple[int | None, int | None]] = (
    (None, None),
    (None, 2 * BILLION),
    (2 * BILLION, 5 * BILLION),
    (5 * BILLION, 10 * BILLION),
    (10 * BILLION, 20 * BILLION),
    (20 * BILLION, 40 * BILLION),
    (40 * BILLION, None),
)
"""What there is to choose from of sizes, in parameters: from, and up to."""


def size_up_to(parameters: int) -> int:
    """The place in SIZES of what is as large as that."""
    return next(place for place, (_, most) in enumerate(SIZES[1:], 1) if most is None or parameters <= most)


@dataclass(frozen=True)
class Wish:
    """All that can be set. `formats`: none chosen means any. `size` is a place in SIZES."""

    words: str = ""
    formats: tuple[str, ...] = ()
    chat_only: bool = True
    size: int = 0
    license: str | None = None
    author: str | None = None
    sort: Sort = Sort.DOWNLOADS

    @property
    def is_plain(self) -> bool:
        """Whether nothing is looked for by words, nor by who has made it."""
        return not self.words.strip() and self.author is None

    @property
    def set_aside(self) -> int:
        """How many of the filters that can be folded away differ from their defaults."""
        plain = Wish()
        names = ("size", "license", "author", "sort")
        return sum(getattr(self, name) != getattr(plain, name) for name in names)

    def queries(self) -> tuple[Query, ...]:
        """What the Hub is asked: once, or once for each chosen format where not all of them are.

        Where nothing is looked for by name: what most take, and what more and more do, of the format that runs
        everywhere.
        """
        least, most = SIZES[self.size]
        one = Query(self.words.strip(), None, None, self.author, self.license, None, least, most, self.sort)
        chosen: tuple[str | None, ...] = self.formats if 0 < len(self.formats) < len(FORMATS) else (None,)
        if self.is_plain and chosen == (None,):
            chosen = ("gguf",)
        made = [replace(one, format=each) for each in chosen]
        if self.is_plain and self.sort is Sort.DOWNLOADS:
            made += [replace(each, sort=Sort.TRENDING) for each in made]
        return tuple(made)
