"""JSON of strangers and of people, read without what Python's reader lets pass."""

from __future__ import annotations

import json
from typing import Any


def read_strict(content: str | bytes) -> Any:
    """The value that `content` holds. Raises ValueError also for NaN and infinities, which JSON has not, and for a key
    that stands twice in an object; RecursionError where it is nested too deep.
    """
    return json.loads(content, parse_constant=_no_constant, object_pairs_hook=_distinct)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("duplicate key")
    return made
