"""Why an engine ended, by the words in its log: how a table of such words is written and searched. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weighbridge_engines.api import Cause

_SHOWN = 300
_READ_OF_A_LINE = 2000
"""Characters: whoever prints more can not make this slow."""


_PLACE = re.compile(r'(.{0,200}?)  File "[^"]+", line \d')
"""Where an error came from, in a traceback."""


@dataclass(frozen=True)
class Failure:
    """One way to fail: what it is called, the words for it, and values that the words do not hold."""

    code: str
    words: re.Pattern[str]
    values: Mapping[str, object] = field(default_factory=dict)


def failure(code: str, words: str, **values: object) -> Failure:
    """As a row of a table; named groups of `words` become values, "needed_bytes" as a number."""
    return Failure(code, re.compile(words, re.MULTILINE), values)


def cause_in(log: Sequence[str], failures: Iterable[Failure]) -> Cause | None:
    """The first of `failures` whose words are in `log`, with the "line" that they begin in."""
    text = "\n".join(line[:_READ_OF_A_LINE] for line in without_source(log))
    for each in failures:
        if match := each.words.search(text):
            found = {name: told.strip()[:_SHOWN] for name, told in match.groupdict().items() if told is not None}
            return Cause(each.code, {**each.values, **_read(found), "line": line_at(text, match.start())})
    return None


def without_source(log: Iterable[str]) -> Iterator[str]:
    """All but the lines of source that Python shows beside where an error came from: words for faults stand in them.

    Whoever logs a whole traceback may have put the same words before each of its lines.
    """
    source: str | None = None
    for line in log:
        if place := _PLACE.match(line):
            source = f"{place[1]}    "
        elif source is None or not line.startswith(source):
            source = None
            yield line


def _read(found: Mapping[str, str]) -> dict[str, object]:
    return {name: int(told) if name.endswith("_bytes") else told for name, told in found.items()}


def line_at(text: str, place: int) -> str:
    """The line of `text` in which `place` is, as far as it is shown."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text[start : end if end >= 0 else len(text)].strip()[:_SHOWN]
