"""Which JSON schemas xgrammar cannot hold an answer to, beside those that `schemas` refuses. Pure.

It passes over formats that it does not know, and keeps to one part of an `allOf` at most, in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge_engines.api import RequestRefused
from weighbridge_engines.schemas import FIELD

FORMATS = ("date", "time", "date-time", "uuid")


def check_for_xgrammar(schema: object) -> None:
    """Raise RequestRefused, which names the keyword. `schema` is checked before: it is not too deep."""
    for name, value in _entries(schema):
        if name == "allOf" and isinstance(value, list):
            raise RequestRefused("schema.allOf cannot be kept to here", FIELD)
        if name == "format" and isinstance(value, str) and value not in FORMATS:
            raise RequestRefused(f"schema.format is none of {', '.join(FORMATS)}", FIELD)


def _entries(part: Any) -> Iterator[tuple[str, Any]]:
    """All names and values in `part`. A property may be called like a keyword; then its value is a schema."""
    if isinstance(part, dict):
        yield from part.items()
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for each in inner:
        yield from _entries(each)
