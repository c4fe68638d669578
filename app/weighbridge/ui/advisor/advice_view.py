"""The advice: blocks of what to take, each with its why and its button; warnings; the engines that were thought of."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QWidget

from weighbridge.base.words import text
from weighbridge.choices.advice.advice import Action, Advice, Point, Ranked, Reason, Topic
from weighbridge.choices.advice.words import action_in_words, command_of, reason_in_words
from weighbridge.ui.advisor.point_view import PointView
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.parts import clear, column, label, panel, selectable

_FIRST = (Topic.ENGINE, Topic.MODEL, Topic.FORMAT)
"""What most people come for: the first of it that can be done stands out."""


class AdviceView(QWidget):
    """Shows one `Advice`; what had the focus has it again where the new one has it too. `wanted` as of its points."""

    wanted = Signal(object, object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: Advice | None = None
        self._points: list[PointView] = []
        self._fold: Fold | None = None
        self._column = column(owner=self, gap=3)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # as wide as what it is seen in

    @property
    def points(self) -> tuple[PointView, ...]:
        """All that are shown, in order."""
        return tuple(self._points)

    @property
    def buttons(self) -> list[QPushButton]:
        """What does what is advised, in order."""
        return [each.act for each in self._points if each.act is not None]

    @property
    def fold(self) -> Fold | None:
        """What unfolds all engines that were thought of."""
        return self._fold

    def show_advice(self, advice: Advice) -> None:
        """Show it. The same as is shown changes nothing."""
        if advice == self._shown:
            return
        focused = QApplication.focusWidget()
        name = focused.accessibleName() if isinstance(focused, QPushButton) and self.isAncestorOf(focused) else ""
        self._shown, self._points = advice, []
        clear(self._column)
        for block in self._blocks(advice):
            self._column.addWidget(block)
        self._column.addStretch(1)
        again = next((each for each in self.buttons if name and each.accessibleName() == name), None)
        if again is not None:
            again.setFocus()

    def _blocks(self, advice: Advice) -> Iterable[QWidget]:
        first = (advice.engine, advice.model, advice.format, advice.quant)
        taken = [each for each in first if each is not None]
        yield _block(self._point(advice.hardware))
        if taken:
            yield _block(*map(self._point, taken))
        else:
            yield _block(label(text("No engine could do that."), "heading", wrap=True))
        if advice.settings:
            yield _block(label(text("Settings"), "heading"), *map(self._point, advice.settings))
        if advice.warnings:
            yield panel(label(text("Beware"), "heading"), *map(_warning, advice.warnings), margin=4)
        if advice.also:
            yield _block(
                label(text("Also to think of"), "heading"), *(self._point(one, titled=False) for one in advice.also)
            )
        if advice.engines:
            yield self._engines(advice.engines)

    def _point(self, point: Point, *, titled: bool = True) -> PointView:
        acting = [each for each in self._points if each.act is not None]
        is_first = point.topic in _FIRST and not any(each.point.topic in _FIRST for each in acting)
        done = {_told(each.point.action) for each in acting if each.point.action is not None}
        acts = point.action is not None and _told(point.action) not in done  # one for each thing to do
        made = PointView(point, titled=titled, acts=acts, is_first=is_first)
        made.wanted.connect(self.wanted)
        self._points.append(made)
        return made

    def _engines(self, engines: tuple[Ranked, ...]) -> QWidget:
        """Why each engine stands where it does, folded: most people want to know the first."""
        inner = QWidget()
        column(*map(_ranked, engines), owner=inner, gap=3)
        was_open = self._fold is not None and self._fold.is_open
        self._fold = Fold(self._theme, inner)
        self._fold.say(text("All engines, and why they stand where they do"))
        self._fold.show_open(was_open)
        return _block(self._fold)


def _told(action: Action) -> tuple[str, str]:
    """What tells one thing to do from another."""
    return action_in_words(action), command_of(action)


def _block(*parts: QWidget) -> QWidget:
    """Its points stand further from each other than their lines do."""
    return panel(column(*parts, gap=4), margin=4)


def _warning(reason: Reason) -> QWidget:
    return selectable(label(f"⚠ {reason_in_words(reason)}", "warning", wrap=True))


def _ranked(one: Ranked) -> QWidget:
    made = QWidget()
    title = label(one.title, "heading" if one.possible else "dim")
    whys = [selectable(label(reason_in_words(each), "dim", wrap=True)) for each in (*one.why, *one.against)]
    column(title, *whys, owner=made, gap=1)
    return made
