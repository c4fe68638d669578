"""The verdict on a load, always in sight: its badge, what it needs, how fast it would be, and what that changes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from weighbridge.base.explain import explain_code
from weighbridge.base.words import text
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.choices.way_words import memory_change_in_words, speed_change_in_words
from weighbridge.choices.words import verdict_in_words
from weighbridge.ui import weight
from weighbridge.ui.load.reckoning import Reckoned
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.figure import Figure
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import label


class VerdictStrip(QWidget):
    """Shows what was reckoned last."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._badge = Badge(theme, "unknown", text("Weighing…"))
        self._where = label("", "dim")
        self._memory = Figure(text("Memory"))
        self._speed = Figure(text("Speed"))
        self.setLayout(Flow(self._badge, self._where, self._memory, self._speed, gap=4))

    @property
    def verdict(self) -> str:
        """The badge's words."""
        return self._badge.accessibleName()

    @property
    def figures(self) -> tuple[str, str]:
        """What it needs and how fast it would be, with what that changes."""
        return self._memory.value, self._speed.value

    def show_reckoned(self, reckoned: Reckoned | None) -> None:
        """None: it is not known yet."""
        for each in (self._memory, self._speed):
            each.setVisible(reckoned is not None)
        if reckoned is None:
            self._badge.say("unknown", text("Weighing…"))
            self._where.setText("")
            return
        choice, whole = reckoned.choice, reckoned.whole
        self._badge.say(weight.badge_kind(choice.fit), verdict_in_words(choice.fit))
        self._where.setText(weight.where(choice.fit))
        memory = _with_change(weight.figure(choice), memory_change_in_words(whole.memory_bytes))
        self._memory.say(memory, weight.basis(choice))
        decode = choice.speeds.decode if choice.speeds else None
        speed = _with_change(speed_in_words(decode), speed_change_in_words(whole.tps))
        unknown = reckoned.no_speed
        why = "" if unknown is None else str(explain_code(unknown.code, unknown.values))
        self._speed.say(speed, why or text("Calculated; in brackets the change against what is set now."))


def _with_change(shown: str, change: str) -> str:
    return f"{shown} ({change})" if change else shown
