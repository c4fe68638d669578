"""What would make a model fit, or fast enough, as the detail pane lists it. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.base.units import speed
from weighbridge.base.words import text
from weighbridge.choices.change_words import change_in_words
from weighbridge.choices.changes import Change, ChangeKind
from weighbridge.choices.choice import Choice

MOST = 3


@dataclass(frozen=True)
class ChangeRow:
    """A change in words, and what its button says; "" where it cannot be made by a button."""

    said: str
    action: str = ""


def listed(found: Sequence[Change] | None, choice: Choice, wanted_tps: float | None) -> tuple[Change, ...]:
    """The changes that are shown: at most three, and none that the remedy beside them says already."""
    told = _is_told(choice, wanted_tps)
    return tuple(one for one in found or () if not (told and one.kind is ChangeKind.SETTINGS))[:MOST]


def rows(shown: Sequence[Change], choice: Choice) -> list[ChangeRow]:
    """Each with a button where it can be made here and now."""
    return [ChangeRow(change_in_words(one, choice), _action(one)) for one in shown]


def head(found: Sequence[Change] | None, shown: Sequence[Change], choice: Choice, wanted_tps: float | None) -> str:
    """What the list is of; "" where nothing was looked for, or the remedy says it all."""
    if not shown:
        return "" if found is None or _is_told(choice, wanted_tps) else text("No single change known here does it.")
    if wanted_tps is None:
        return text("It would fit with one of these, the cheapest first:")
    return text("It would reach {speed} with one of these, the cheapest first:", speed=speed(wanted_tps))


def _is_told(choice: Choice, wanted_tps: float | None) -> bool:
    return wanted_tps is None and choice.fit is not None and choice.fit.remedy is not None


def _action(change: Change) -> str:
    if change.kind is ChangeKind.SETTINGS:
        return text("Apply")
    return text("Show it") if change.kind is ChangeKind.QUANT else ""
