"""By what the Library can be narrowed: whose, which format, whether it fits, leaves this computer, was used, bears a
note. No Qt here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from weighbridge.base.words import text
from weighbridge.library.model import Reach
from weighbridge.ui.elsewhere_words import endpoint_titles, reach_badge
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.source_words import format_in_words, source_in_words

FITS, LEAVES, UNUSED, NOTED = "fits", "leaves", "unused", "noted"
_SOURCE, _FORMAT, _ENDPOINT = "source:", "format:", "endpoint:"

Test = Callable[[LibraryRow], bool]

_TESTS: dict[str, Test] = {
    FITS: lambda row: row.fits,
    LEAVES: lambda row: row.model.leaves,
    UNUSED: lambda row: row.mark.used_s is None,
    NOTED: lambda row: bool(row.mark.note),
}


def offered(rows: Sequence[LibraryRow]) -> list[tuple[str, str]]:
    """The ids and titles of the filters that tell some of `rows` from others; notes, as soon as there is one."""
    made = _sources(rows) + _formats(rows) + [(FITS, text("Fits"))]
    if any(row.model.leaves for row in rows):
        made.append((LEAVES, reach_badge(Reach.INTERNET)[1]))
    made.append((UNUSED, text("Never used")))
    return [*made, (NOTED, text("With notes"))] if any(row.mark.note for row in rows) else made


def _sources(rows: Sequence[LibraryRow]) -> list[tuple[str, str]]:
    """Those of files, then endpoints; endpoints of one title are one."""
    sources = sorted({row.model.source for row in rows if row.model.remote is None})
    words = {source: source_in_words(source) for source in sources}
    titles = endpoint_titles([row.model.remote for row in rows if row.model.remote], words.values())
    made = [(f"{_SOURCE}{source}", said) for source, said in words.items()]
    made += [(f"{_ENDPOINT}{title}", said) for title, said in titles.items()]
    return made if len(made) > 1 else []


def _formats(rows: Sequence[LibraryRow]) -> list[tuple[str, str]]:
    """Those of files: what is served elsewhere is told by its source."""
    formats = {row.model.format: format_in_words(row.model) for row in rows if row.model.remote is None}
    return [(f"{_FORMAT}{form}", formats[form]) for form in sorted(formats)] if len(formats) > 1 else []


def keeping(chosen: Iterable[str]) -> Test | None:
    """What keeps the rows that pass the chosen filters: one of the sources, one of the formats, and all others."""
    ids = sorted(chosen)
    if not ids:
        return None
    sources = {each for each in ids if each.startswith((_SOURCE, _ENDPOINT))}
    formats = {each.removeprefix(_FORMAT) for each in ids if each.startswith(_FORMAT)}
    others = [_TESTS[each] for each in ids if each in _TESTS]

    def passes(row: LibraryRow) -> bool:
        of_source = not sources or _source_id(row) in sources
        of_format = not formats or row.model.format in formats
        return of_source and of_format and all(test(row) for test in others)

    return passes


def _source_id(row: LibraryRow) -> str:
    remote = row.model.remote
    return f"{_SOURCE}{row.model.source}" if remote is None else f"{_ENDPOINT}{remote.endpoint}"
