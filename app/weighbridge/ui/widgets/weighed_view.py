"""A weighed model in full: what it needs and why, whether it fits and what would help, how fast it would be."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from weighbridge.base.explain import explain
from weighbridge.base.units import number, size
from weighbridge.base.words import text
from weighbridge.choices.cache_words import context_curve, token_in_words
from weighbridge.choices.choice import Choice
from weighbridge.choices.words import parameters_in_words
from weighbridge.estimates.cache import kv_bytes
from weighbridge.estimates.estimate import Term
from weighbridge.running.state import Running, State
from weighbridge.ui import weight
from weighbridge.ui.close_look import Closely
from weighbridge.ui.elsewhere_words import reach_badge, reach_in_row
from weighbridge.ui.memory_watch import parts_of, told_in_words
from weighbridge.ui.models.weighed import Weighed
from weighbridge.ui.speed_view import SpeedView
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.advice import Advice
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.context_curve import ContextCurve
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.figure import Figure
from weighbridge.ui.widgets.parts import column, label, row, selectable
from weighbridge.ui.widgets.place_bars import PlaceBars
from weighbridge.ui.widgets.speed_panel import SpeedPanel


class WeighedView(QWidget):
    """Shows one model. `fit` and `where`, its verdict, are for the head of whatever holds this."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fit = Badge(theme, "unknown", "")
        self.where = ElidedLabel(at_left=True)
        self._problem = selectable(label("", wrap=True))
        self._figures = tuple(Figure(name) for name in (text("Memory"), text("Parameters"), text("Bits per weight")))
        self._speed = SpeedPanel(theme)
        self._advice = Advice()
        self._bars = PlaceBars(theme)
        self._basis = selectable(label("", "dim", wrap=True))
        self._cache = selectable(label("", "dim", wrap=True))
        self._curve = ContextCurve(theme)
        figures = row(*self._figures, None, gap=5)
        held = column(self._problem, figures, self._speed, self._advice, self._bars, gap=2, owner=self)
        for widget in (self._basis, self._cache, self._curve):
            held.addWidget(widget)

    @property
    def bars(self) -> PlaceBars:
        """The memory of each place."""
        return self._bars

    @property
    def advice(self) -> Advice:
        """What would make it fit, or faster."""
        return self._advice

    @property
    def speed(self) -> SpeedPanel:
        """How fast it would be."""
        return self._speed

    def show_weighed(
        self, shown: Weighed, close: Closely | None, speed: SpeedView | None, running: Running | None = None
    ) -> None:
        """Show `shown`; with `close`, what only a close look tells. `running`: what its engine takes, instead of what
        it would; None where it does not run, or was weighed for another machine.
        """
        model = shown.model
        choice = shown.choice if model.problem is None and model.remote is None else None
        held = running if running is not None and running.state is State.READY else None
        self._speed.show_view(speed or SpeedView())
        self._problem.setVisible(model.problem is not None)
        self._problem.setText(str(explain(model.problem)) if model.problem else "")
        self._show_fit(shown, choice)
        basis = self._show_bars(choice, held)
        self._show_figures(shown, basis, held)
        self._advice.show_choice(choice, close)
        self._show_context(choice, close)

    def _show_fit(self, shown: Weighed, choice: Choice | None) -> None:
        badge, model = shown.fit_badge, shown.model
        self.fit.setVisible(badge is not None)
        if badge is not None:
            self.fit.say(*badge)
        if model.remote is not None:
            self.fit.say(*reach_badge(model.remote.reach), least=reach_in_row(model.remote.reach))
        self.where.setText(weight.where(choice.fit) if choice is not None else "")

    def _show_bars(self, choice: Choice | None, held: Running | None) -> str:
        """The bars, and where they come from, which is returned."""
        found, basis = ((), "") if choice is None else (weight.memories(choice), weight.basis(choice))
        if found and held is not None and held.buffers:
            parts = tuple(replace(part, owner="") for part in parts_of(held))
            found, basis = (replace(found[0], parts=(found[0].parts[0], *parts)), *found[1:]), told_in_words(held)
        self._bars.setVisible(bool(found))
        self._bars.show_memories(found)
        self._basis.setVisible(choice is not None)
        self._basis.setText(basis)
        return basis

    def _show_figures(self, shown: Weighed, basis: str, held: Running | None) -> None:
        info, whole = shown.model.info, shown.model.problem is None
        taken = held.memory_bytes if held is not None else None
        needed = None if shown.choice is None else weight.figure(shown.choice)
        header = text("As the file's header says.")
        bits = info.bits_per_weight if info else None
        values = (
            (needed if taken is None else size(taken), basis),
            (parameters_in_words(info) if info else None, header),
            (None if bits is None else number(bits, 2), text("The weights' bytes over the parameters.")),
        )
        for figure, (value, source) in zip(self._figures, values, strict=True):
            figure.say(value or "", source)
            figure.setVisible(whole and value is not None)

    def _show_context(self, choice: Choice | None, close: Closely | None) -> None:
        """What a token costs and why, how far the context could go, and the curve."""
        fit, blueprint = (choice.fit, choice.blueprint) if choice else (None, None)
        there = fit is not None and blueprint is not None and fit.estimate.term(Term.KV) is not None
        self._cache.setVisible(there)
        grows = there and any(layer.cached for layer in blueprint.shape.layers) if blueprint else False
        self._curve.setVisible(grows)
        if fit is None or blueprint is None:
            return
        longest = weight.longest_in_words(close.longest) if close else ""
        self._cache.setText(" ".join(filter(None, (token_in_words(blueprint.shape, fit.plan), longest))))
        if grows:
            trained = max(blueprint.context_length or 0, fit.plan.context)
            points = context_curve(blueprint.shape, fit.plan, trained)
            self._curve.show_curve(points, fit.plan.context, kv_bytes(blueprint.shape, fit.plan))
