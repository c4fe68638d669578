"""One piece of advice: what, why, what stands against it, and the button that does it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.choices.advice.advice import Action, Point, Reason
from weighbridge.choices.advice.words import action_in_words, command_of, reason_in_words, topic_in_words
from weighbridge.ui.widgets.beside import Beside
from weighbridge.ui.widgets.parts import button, column, label, selectable

_WORDS_EMS = 12
"""Where there is less room for words beside a button, it stands below them."""


class PointView(QWidget):
    """Shows one `Point`. `wanted` tells its Action, and the button that was pressed; there is none unless it `acts`.
    `is_first`: what it does is what most people want.
    """

    wanted = Signal(object, object)

    def __init__(self, point: Point, *, titled: bool = True, acts: bool = True, is_first: bool = False) -> None:
        super().__init__()
        self.point = point
        self.act: QPushButton | None = None
        head = [label(topic_in_words(point.topic), "dim")] if titled else []
        what = selectable(label(reason_in_words(point.what), "heading", wrap=True))
        top: QWidget = what
        if point.action is not None and acts:
            self.act = self._button(point.action, "primary" if is_first else "")
            top = Beside(what, self.act, least_ems=_WORDS_EMS)
        lines = [*map(_why, point.why), *map(_against, point.against)]
        column(*head, top, *lines, owner=self, gap=1)

    def _button(self, action: Action, role: str) -> QPushButton:
        made = button(action_in_words(action), lambda: self.wanted.emit(action, made), role)
        command = command_of(action)
        made.setToolTip(command)
        made.setAccessibleDescription(command)
        return made


def _why(reason: Reason) -> QWidget:
    return selectable(label(reason_in_words(reason), "dim", wrap=True))


def _against(reason: Reason) -> QWidget:
    """With a sign beside it: that it stands against is not told by a colour alone."""
    return selectable(label(f"⚠ {reason_in_words(reason)}", "warning", wrap=True))
