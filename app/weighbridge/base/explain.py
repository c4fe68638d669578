"""What each error code says to a person: what happened, with its numbers, and what to do next.

One table for errors of Weighbridge and causes told by engines. Sentences are marked here and translated when shown.
Keep it alphabetical. A code missing here is a fault that a test finds; should one slip through, it is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.words import mark, text


@dataclass(frozen=True)
class Explanation:
    """Words for a fault: `what` happened, and `next_step` (empty where there is nothing to do)."""

    what: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.what} {self.next_step}".strip()


WHAT_AND_NEXT: Mapping[str, tuple[str, str]] = {
    "chat.interrupted": (
        mark("The program ended while this answer was being written."),
        mark("What had come is kept. Regenerate to have it written anew."),
    ),
    "chat.storage": (
        mark("The answer could not be saved ({reason})."),
        mark("It is shown here until the window closes: copy it, then check the free space."),
    ),
    "chat.unknown": (
        mark("That conversation or message is not here any more."),
        "",
    ),
    "database.damaged": (
        mark("The database could not be read, so a new one was made."),
        mark("The old file is kept as {aside}."),
    ),
    "database.newer": (
        mark("The database was written by a later version of Weighbridge ({migration})."),
        mark("Start that version, or move the file away."),
    ),
    "database.unusable": (
        mark("The database {path} could not be opened ({reason})."),
        mark("Check the free space, who may write there, and that no other program holds the file."),
    ),
    "settings.bad_value": (
        mark("The setting {name} is {value}, which it can not be; {default} is used instead."),
        mark("Choose it anew in the window, or mend it in the settings file."),
    ),
    "settings.damaged": (
        mark("The settings file could not be read, so the defaults are used."),
        mark("The old file is kept as {path}."),
    ),
    "settings.unreadable": (
        mark("The settings file {path} could not be opened ({reason}), so the defaults are used."),
        mark("Check who may read it."),
    ),
    "settings.unwritable": (
        mark("The settings could not be saved in {path} ({reason}). They hold until the program ends."),
        mark("Check the free space and who may write there."),
    ),
}


def explain(error: WeighbridgeError) -> Explanation:
    """Words for `error` in the language in use."""
    return explain_code(error.code, error.values)


def explain_code(code: str, values: Mapping[str, object]) -> Explanation:
    """Words for a code and its values."""
    what, next_step = WHAT_AND_NEXT.get(code, (code, ""))
    return Explanation(_fill(what, values), _fill(next_step, values))


def _fill(source: str, values: Mapping[str, object]) -> str:
    if not source:
        return ""
    try:
        return text(source).format(**values)
    except (KeyError, IndexError):
        return text(source)
