"""By what the Library can be narrowed: whose, which format, whether it fits, was used, bears a note. No Qt here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from weighbridge.base.words import text
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.source_words import source_in_words

FITS, UNUSED, NOTED = "fits", "unused", "noted"
_SOURCE, _FORMAT = "source:", "format:"

Test = Callable[[LibraryRow], bool]

_TESTS: dict[str, Test] = {
    FITS: lambda row: row.fits,
    UNUSED: lambda row: row.mark.used_s is None,
    NOTED: lambda row: bool(row.mark.note),
}


def offered(rows: Sequence[LibraryRow]) -> list[tuple[str, str]]:
    """The ids and titles of the filters that tell some of `rows` from others; notes, as soon as there is one."""
    sources = sorted({row.model.source for row in rows})
    formats = sorted({row.model.format for row in rows})
    made = [(f"{_SOURCE}{source}", source_in_words(source)) for source in sources if len(sources) > 1]
    made += [(f"{_FORMAT}{form}", form.upper()) for form in formats if len(formats) > 1]
    made += [(FITS, text("Fits")), (UNUSED, text("Never used"))]
    return [*made, (NOTED, text("With notes"))] if any(row.mark.note for row in rows) else made


def keeping(chosen: Iterable[str]) -> Test | None:
    """What keeps the rows that pass the chosen filters: one of the sources, one of the formats, and all others."""
    ids = sorted(chosen)
    if not ids:
        return None
    sources = {each.removeprefix(_SOURCE) for each in ids if each.startswith(_SOURCE)}
    formats = {each.removeprefix(_FORMAT) for each in ids if each.startswith(_FORMAT)}
    others = [_TESTS[each] for each in ids if each in _TESTS]

    def passes(row: LibraryRow) -> bool:
        of_source = not sources or row.model.source in sources
        of_format = not formats or row.model.format in formats
        return of_source and of_format and all(test(row) for test in others)

    return passes
