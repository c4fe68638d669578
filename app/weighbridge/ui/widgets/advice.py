"""The advice of the detail pane: who runs the model, what would make it fit or faster, and where else it would."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.choices.changes import Change, ChangeKind
from weighbridge.choices.choice import Choice
from weighbridge.choices.runner import NOT_OURS
from weighbridge.choices.words import elsewhere_in_words, remedy_in_words, runner_in_words
from weighbridge.estimates.plan import Plan
from weighbridge.ui import changes_view
from weighbridge.ui.close_look import Closely
from weighbridge.ui.weighing import WhatIf
from weighbridge.ui.widgets.changes_list import ChangesList
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.parts import button, column, label, row, selectable


class Advice(QWidget):
    """The buttons only ask; the page acts."""

    settings_wanted = Signal(object, int)
    """A WhatIf and a context length that do it."""
    model_wanted = Signal(str)
    """Another model, by its id, that does it."""
    build_wanted = Signal(str)
    """A build that is to be looked at, by its id, or by that of an engine of which none is here."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice: Choice | None = None
        self._shown: tuple[Change, ...] = ()
        self._advice = ElidedLabel(at_left=True)
        self._remedy = button(text("Apply"), self._use_remedy)
        self._runner = selectable(label("", wrap=True))
        self._elsewhere = selectable(label("", wrap=True))
        self._build_id = ""
        self._build = button(text("Show the build"), lambda: self.build_wanted.emit(self._build_id))
        self._changes = ChangesList()
        self._changes.taken.connect(self._take)
        advice = row(self._advice, self._remedy, None, gap=2)
        builds = row(column(self._runner, self._elsewhere, gap=1), self._build, gap=3)
        builds.setStretch(0, 1)
        column(advice, self._changes, builds, owner=self, gap=1)

    @property
    def remedy(self) -> QPushButton:
        """Takes over what would make it fit."""
        return self._remedy

    @property
    def build(self) -> QPushButton:
        """Leads to the build that would run it, or run it better."""
        return self._build

    @property
    def changes(self) -> ChangesList:
        """What else would help."""
        return self._changes

    def show_choice(self, choice: Choice | None, close: Closely | None) -> None:
        """Show what is known of `choice`; with `close`, what only a close look tells. None: there is nothing to say."""
        self._choice = choice
        self.setVisible(choice is not None)
        if choice is None:
            return
        remedy, plan = (choice.fit.remedy, choice.fit.plan) if choice.fit else (None, None)
        there = remedy is not None and plan is not None
        for widget in (self._advice, self._remedy):
            widget.setVisible(there)
        self._advice.setText(remedy_in_words(remedy, plan) if remedy is not None and plan is not None else "")
        self._runner.setVisible(choice.runner is None or not choice.runner.installed)
        self._runner.setText(text("Can be run by {engine}.", engine=runner_in_words(choice.runner)))
        self._elsewhere.setVisible(choice.elsewhere is not None)
        self._elsewhere.setText(elsewhere_in_words(choice.elsewhere) if choice.elsewhere else "")
        self._build_id = build_for(choice)
        self._build.setVisible(bool(self._build_id))
        self._show_changes(choice, close)

    def _show_changes(self, choice: Choice, close: Closely | None) -> None:
        found, wanted = (close.changes, close.wanted_tps) if close else (None, None)
        self._shown = changes_view.listed(found, choice, wanted)
        head = changes_view.head(found, self._shown, choice, wanted)
        self._changes.show_changes(changes_view.rows(self._shown, choice), head)

    def _use_remedy(self) -> None:
        fit = self._choice.fit if self._choice else None
        if fit is not None and fit.remedy is not None:
            self._use(fit.remedy.plan, fit.remedy.plan.context)

    def _take(self, place: int) -> None:
        change = self._shown[place]
        if change.kind is ChangeKind.QUANT:
            self.model_wanted.emit(change.choice.model.id)
        elif change.choice.fit is not None:
            plan = change.choice.fit.plan
            self._use(plan, change.choice.load.context or plan.context)

    def _use(self, plan: Plan, context: int) -> None:
        kept = None if plan.key_type == "f16" else plan.key_type
        slots = None if plan.slots == 1 else plan.slots
        self.settings_wanted.emit(WhatIf(kept, slots, plan.gpu_layers, plan.cpu_experts or None), context)


def build_for(choice: Choice) -> str:
    """The id of the build that would use a card which nothing uses, or of the engine that is to be installed; "" where
    there is neither.
    """
    if choice.elsewhere is not None:
        return str(choice.elsewhere.missing.values.get("build_id", ""))
    runner = choice.runner
    if runner is None or runner.missing is None or runner.missing.code == NOT_OURS or not runner.suits:
        return ""
    return runner.engine_id
