"""What a library that we host does not print itself, told in lines of its log that `report` reads again. Pure but for
`tell` and `print_line`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

_MARK = "session: "

Value = int | float | str | bool


def line(values: Mapping[str, Value]) -> str:
    """One line: effective values, sizes in bytes with the "device" that holds them, or the "stage" of the load."""
    return _MARK + json.dumps(values)


def tell(**values: Value) -> None:
    """Print such a line on standard error."""
    print_line(line(values))


def print_line(text: str) -> None:
    """Put a line into the engine's log, which is standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def report(text: str) -> Mapping[str, Value]:
    """The values in such a line; empty for any other."""
    if not text.startswith(_MARK):
        return {}
    try:
        told = json.loads(text.removeprefix(_MARK))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    return {name: value for name, value in told.items() if isinstance(value, int | float | str | bool)}
