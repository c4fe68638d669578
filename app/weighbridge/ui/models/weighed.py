"""A weighed model as a row of any table shows it: what it needs, whether it fits, how fast it would be. No Qt here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from weighbridge.base.words import text
from weighbridge.choices.choice import Choice
from weighbridge.choices.speed_words import figures_in_words
from weighbridge.choices.words import lacking_in_words, runner_in_words, verdict_in_words
from weighbridge.estimates.fit import Verdict
from weighbridge.estimates.speed.speed import Speed
from weighbridge.library.model import Model, Reach
from weighbridge.ui import weight
from weighbridge.ui.elsewhere_words import reach_badge, reach_in_row
from weighbridge.ui.memory_parts import Memory

UNKNOWN = "–"
"""What stands for a speed that is unknown, and for each figure of a model that takes nothing here: among figures, none.
"""

_ORDER = {verdict: place for place, verdict in enumerate(Verdict)}
_ELSEWHERE = {reach: _ORDER[Verdict.NO] - 1 + (place + 1) / 4 for place, reach in enumerate(Reach)}


@dataclass(frozen=True)
class Weighed:
    """A model, and what it weighs here. None: not weighed yet."""

    model: Model
    choice: Choice | None = None

    @property
    def fit_badge(self) -> tuple[str, str] | None:
        """The badge of its verdict, of a card that is not here, or of how far away it is; None where the file is
        damaged or not weighed yet.
        """
        if self.model.remote is not None:
            reach = self.model.remote.reach
            return reach_badge(reach)[0], reach_in_row(reach)
        if self.model.problem is not None or self.choice is None:
            return None
        if lacking := lacking_in_words(self.choice.runner):
            return "no", lacking
        return weight.badge_kind(self.choice.fit), verdict_in_words(self.choice.fit)

    @property
    def fit_glyph(self) -> str:
        """The icon of that badge; "" for that of its kind."""
        return "" if self.model.remote is None else reach_badge(self.model.remote.reach)[2]

    @property
    def memory(self) -> Memory | None:
        """What it would take of the place the verdict speaks of; None where that is unknown."""
        if self.choice is None or self.model.problem is not None:
            return None
        return weight.tightest(self.choice)

    @cached_property
    def total_bytes(self) -> int | None:
        """What it needs in all; None where that is unknown."""
        fit = self.choice.fit if self.choice else None
        return fit.estimate.total_bytes if fit else None

    @property
    def figure(self) -> str:
        """The same in words: "unknown" for what is damaged, "" where it is not weighed yet."""
        if self.model.remote is not None:
            return UNKNOWN
        if self.model.problem is not None:
            return text("unknown")
        return "" if self.choice is None else weight.figure(self.choice)

    @property
    def speed(self) -> Speed | None:
        """How fast it would write; None where that is unknown, or not reckoned yet."""
        return self.choice.speeds.decode if self.choice and self.choice.speeds else None

    @property
    def pace(self) -> str:
        """The same in words: a dash where it is unknown, "" before it was reckoned."""
        if self.model.problem is not None or self.model.remote is not None:
            return UNKNOWN
        if self.choice is None or self.choice.speeds is None:
            return ""
        return UNKNOWN if self.speed is None else figures_in_words(self.speed)

    @property
    def runner(self) -> str:
        """Who could run it, where nothing here can; "" where an engine here does, or it is not weighed yet."""
        if self.choice is None or self.model.problem is not None or self.model.remote is not None:
            return ""
        runner = self.choice.runner
        return "" if runner is not None and runner.installed else runner_in_words(runner)


def by_fit(weighed: Weighed) -> tuple[bool, float]:
    """For sorting: most left first, then what does not fit, what needs another card, what is unknown. What is elsewhere
    comes before what does not fit, the nearest first: it can be asked.
    """
    if weighed.model.remote is not None:
        return False, _ELSEWHERE[weighed.model.remote.reach] * float(1 << 60)
    choice = weighed.choice
    if choice is not None and choice.runner is not None and choice.runner.lacks_card:
        return False, (_ORDER[Verdict.NO] + 0.5) * float(1 << 60)
    fit = choice.fit if choice else None
    if fit is None or fit.verdict is Verdict.UNKNOWN:
        return True, 0
    return False, _ORDER[fit.verdict] * float(1 << 60) - (fit.left_bytes or 0)


def by_need(weighed: Weighed) -> tuple[bool, float]:
    """For sorting: the least need first, what is unknown last."""
    need_bytes = weighed.total_bytes
    return need_bytes is None, need_bytes or 0


def by_speed(weighed: Weighed) -> tuple[bool, float]:
    """For sorting: the fastest first, what is unknown last."""
    speed = weighed.speed
    return speed is None, -speed.mid_tps if speed else 0
