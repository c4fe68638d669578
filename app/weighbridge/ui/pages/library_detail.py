"""The selected model of the Library: what it needs, what its engine does, and what can be done with it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton, QSizePolicy, QWidget

from weighbridge.base.explain import explain
from weighbridge.base.units import THIN, number, size
from weighbridge.base.words import text
from weighbridge.choices.cache_words import context_curve, token_in_words
from weighbridge.choices.choice import Choice
from weighbridge.choices.words import parameters_in_words
from weighbridge.estimates.cache import kv_bytes
from weighbridge.estimates.estimate import Term
from weighbridge.running.state import Running, State
from weighbridge.ui import weight
from weighbridge.ui.close_look import Closely
from weighbridge.ui.folders import short
from weighbridge.ui.memory_watch import parts_of, told_in_words
from weighbridge.ui.models.library_model import LibraryRow
from weighbridge.ui.pages.library_advice import Advice
from weighbridge.ui.running_words import stage_in_words
from weighbridge.ui.speed_view import SpeedView
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.context_curve import ContextCurve
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.figure import Figure
from weighbridge.ui.widgets.fitted_area import FittedArea
from weighbridge.ui.widgets.parts import button, column, label, row, selectable
from weighbridge.ui.widgets.place_bars import PlaceBars
from weighbridge.ui.widgets.settings_table import SettingsTable
from weighbridge.ui.widgets.speed_panel import SpeedPanel
from weighbridge_engines.api import STAGES

_TICK_MS = 100


class LibraryDetail(QFrame):
    """Shows one row. The buttons only ask; the page acts."""

    load_wanted = Signal()
    stop_wanted = Signal()
    chat_wanted = Signal()
    pin_wanted = Signal()
    measure_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._row: LibraryRow | None = None
        self._close: Closely | None = None
        self._elsewhere = False
        self._title = selectable(label("", "heading"))
        self._badge = Badge(theme, "unknown", "")
        self._path = selectable(label("", "dim"))
        self._load = button(text("Load"), self.load_wanted.emit, "primary")
        self._stop = button(text("Stop"), self.stop_wanted.emit)
        self._chat = button(text("Chat"), self.chat_wanted.emit)
        self._pin = button(text("Pin"), self.pin_wanted.emit)
        self._ends = ElidedLabel()
        self._fit = Badge(theme, "unknown", "")
        self._where = ElidedLabel(at_left=True)
        self._bars = PlaceBars(theme)
        self._figures = tuple(Figure(name) for name in (text("Memory"), text("Parameters"), text("Bits per weight")))
        self._speed = SpeedPanel()
        self._speed.measure_wanted.connect(self.measure_wanted)
        self._advice = Advice()
        self._cache = selectable(label("", "dim", wrap=True))
        self._curve = ContextCurve(theme)
        self._basis = selectable(label("", "dim", wrap=True))
        self._problem = selectable(label("", wrap=True))
        self._stage = label("")
        self._progress = QProgressBar(textVisible=False)
        self._progress.setRange(0, len(STAGES))
        self._progress.setAccessibleName(text("Stage of the load"))
        self._error = ErrorPanel(theme)
        self._settings = SettingsTable(theme)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._show_elapsed)

    @property
    def buttons(self) -> tuple[QPushButton, QPushButton, QPushButton]:
        """Load, Stop (Cancel while loading), Chat."""
        return self._load, self._stop, self._chat

    @property
    def pin(self) -> QPushButton:
        """Pin or unpin."""
        return self._pin

    @property
    def ends(self) -> str:
        """What loading would end, as it is said."""
        return self._ends.text()

    def show_ends(self, words: str) -> None:
        """Say beside Load what loading would end; "" where nothing."""
        self._ends.setText(words if not self._load.isHidden() else "")

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

    def show_row(
        self,
        shown: LibraryRow,
        close: Closely | None = None,
        speed: SpeedView | None = None,
        *,
        elsewhere: bool = False,
    ) -> None:
        """Show `shown`; with `close`, what only a close look tells. `elsewhere`: it was weighed for another machine."""
        self._row, self._close, self._elsewhere = shown, close, elsewhere
        self._speed.show_view(speed or SpeedView())
        model, running = shown.model, shown.running
        self._title.setText(model.title)
        room = self.fontMetrics().height() * 44
        path = self.fontMetrics().elidedText(short(model.path, Path.home()), Qt.TextElideMode.ElideMiddle, room)
        self._path.setText(path)
        self._path.setToolTip(str(model.path))
        badge = shown.badge
        self._badge.setVisible(badge is not None)
        if badge is not None:
            self._badge.say(*badge)
        self._show_memory(shown)
        self._problem.setVisible(model.problem is not None)
        self._problem.setText(str(explain(model.problem)) if model.problem else "")
        self._show_running(running)
        self._show_buttons(running.state if running else State.STOPPED, model.problem is None)
        self._show_pin(running)

    def keep_lines(self, least: int) -> None:
        """Keep so many lines in sight where others need the room."""
        self._area.keep_lines(least)

    def quiet(self) -> None:
        """Stop the clock of a load: the page is not shown."""
        self._timer.stop()

    def wake(self) -> None:
        """The page is shown again."""
        if self._row is not None:
            self._show_running(self._row.running)

    def _lay_out(self) -> None:
        top = row(self._title, self._badge, self._fit, self._where, self._ends)
        top.setStretch(4, 1)
        for each in (self._chat, self._pin, self._stop, self._load):
            top.addWidget(each)
        figures = row(*self._figures, None, gap=5)
        memory = column(
            self._problem, figures, self._speed, self._advice, self._bars, self._basis, self._cache, self._curve, gap=2
        )
        loading = row(self._progress, self._stage, gap=3)
        loading.setStretch(0, 1)
        self._loading = QWidget()
        self._loading.setLayout(loading)
        loading.setContentsMargins(0, 0, 0, 0)
        left = column(memory, self._loading, None, gap=2)
        self._settings.setMinimumWidth(self.fontMetrics().height() * 16)
        middle = row(left, column(self._settings, None), gap=6)
        middle.setStretch(0, 1)
        inner = QWidget()
        held = column(self._path, self._error, middle, owner=inner, gap=2)
        held.setContentsMargins(4 * STEP, 0, 4 * STEP, 3 * STEP)
        top.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 0)
        self._area = FittedArea(inner)
        outer = column(top, self._area, owner=self, gap=2)
        outer.setContentsMargins(1, 1, 1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def _show_memory(self, shown: LibraryRow) -> None:
        choice, running = shown.choice, shown.running
        found, basis = ((), "") if choice is None else (weight.memories(choice), weight.basis(choice))
        ready = running is not None and running.state is State.READY and not self._elsewhere
        if found and running is not None and ready and running.buffers:
            parts = tuple(replace(part, owner="") for part in parts_of(running))
            found, basis = (replace(found[0], parts=(found[0].parts[0], *parts)), *found[1:]), told_in_words(running)
        whole = shown.model.problem is None
        self._bars.setVisible(bool(found) and whole)
        self._bars.show_memories(found)
        self._basis.setVisible(whole)
        self._basis.setText(basis)
        self._fit.setVisible(shown.fit_badge is not None)
        if shown.fit_badge is not None:
            self._fit.say(*shown.fit_badge)
        self._where.setText(weight.where(choice.fit) if whole and choice is not None else "")
        self._show_figures(shown, basis, whole)
        self._advice.show_choice(choice if whole else None, self._close)
        self._show_context(choice if whole else None)

    def _show_context(self, choice: Choice | None) -> None:
        """What a token costs and why, how far the context could go, and the curve."""
        fit, blueprint = (choice.fit, choice.blueprint) if choice else (None, None)
        there = fit is not None and blueprint is not None and fit.estimate.term(Term.KV) is not None
        self._cache.setVisible(there)
        grows = there and any(layer.cached for layer in blueprint.shape.layers) if blueprint else False
        self._curve.setVisible(grows)
        if fit is None or blueprint is None:
            return
        longest = weight.longest_in_words(self._close.longest) if self._close else ""
        self._cache.setText(" ".join(filter(None, (token_in_words(blueprint.shape, fit.plan), longest))))
        if grows:
            trained = max(blueprint.context_length or 0, fit.plan.context)
            points = context_curve(blueprint.shape, fit.plan, trained)
            self._curve.show_curve(points, fit.plan.context, kv_bytes(blueprint.shape, fit.plan))

    def _show_figures(self, shown: LibraryRow, basis: str, whole: bool) -> None:
        info, running = shown.model.info, shown.running
        ready = running is not None and running.state is State.READY and not self._elsewhere
        held = running.memory_bytes if running is not None and ready else None
        header = text("As the file's header says.")
        bits = info.bits_per_weight if info else None
        needed = None if shown.choice is None else weight.figure(shown.choice)
        values = (
            (needed if held is None else size(held), basis),
            (parameters_in_words(info) if info else None, header),
            (None if bits is None else number(bits, 2), text("The weights' bytes over the parameters.")),
        )
        for figure, (value, source) in zip(self._figures, values, strict=True):
            figure.say(value or "", source)
            figure.setVisible(whole and value is not None)

    def _show_running(self, running: Running | None) -> None:
        loading = running is not None and running.state is State.LOADING
        self._loading.setVisible(loading)
        self._settings.setVisible(running is not None and running.state is State.READY)
        if running is not None:
            self._settings.show_settings(running.settings)
        if loading:
            self._show_elapsed()
            self._timer.start()
        else:
            self._timer.stop()
        if running is not None and running.state is State.FAILED and running.error is not None:
            self._error.show_error(running.error, ((text("Try again"), self.load_wanted.emit),))
        else:
            self._error.hide()

    def _show_elapsed(self) -> None:
        running = self._row.running if self._row else None
        if running is None:
            return
        elapsed = number(max(0.0, time.monotonic() - running.since_s), 1)
        self._stage.setText(f"{stage_in_words(running.stage)} · {elapsed}{THIN}s")
        self._progress.setValue(STAGES.index(running.stage) + 1 if running.stage in STAGES else 0)

    def _show_pin(self, running: Running | None) -> None:
        """Only what is loaded, or loads, can be kept."""
        self._pin.setVisible(running is not None and running.state in (State.LOADING, State.READY))
        pinned = running is not None and running.pinned
        self._pin.setText(text("Unpin") if pinned else text("Pin"))
        self._pin.setAccessibleName(self._pin.text())
        self._pin.setToolTip(text("A pinned model is not ended to make room, nor for being unused"))

    def _show_buttons(self, state: State, whole: bool) -> None:
        active = state in (State.LOADING, State.READY, State.STOPPING)
        self._load.setVisible(whole and not active)
        self._stop.setVisible(active)
        self._stop.setEnabled(state is not State.STOPPING)
        words = text("Cancel") if state is State.LOADING else text("Stop")
        self._stop.setText(words)
        self._stop.setAccessibleName(words)
        self._chat.setVisible(whole)
