"""How many of some weighed choices fit: what a list tells of a model in one line. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from weighbridge.choices.choice import Choice
from weighbridge.estimates.fit import Verdict


@dataclass(frozen=True)
class Counts:
    """How many choices there are of each verdict."""

    fits: int = 0
    tight: int = 0
    partial: int = 0
    no: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.fits + self.tight + self.partial + self.no + self.unknown

    @property
    def best(self) -> Verdict:
        """The best verdict among them; unknown where there is none."""
        return next((verdict for verdict in Verdict if getattr(self, verdict.value)), Verdict.UNKNOWN)


def counts(choices: Iterable[Choice]) -> Counts:
    """How many of `choices` are of each verdict; what cannot be weighed is unknown, and what needs a card that is not
    here is no choice, however much memory there is.
    """
    return Counts(**Counter(_verdict(choice).value for choice in choices))


def _verdict(choice: Choice) -> Verdict:
    if choice.runner is not None and choice.runner.lacks_card:
        return Verdict.NO
    return choice.fit.verdict if choice.fit else Verdict.UNKNOWN
