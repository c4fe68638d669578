"""The selected model of the Library: what it needs, what its engine does, and what can be done with it."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton, QSizePolicy, QWidget

from weighbridge.base.words import text
from weighbridge.choices.load_words import load_in_words
from weighbridge.library.model import Model
from weighbridge.running.state import Running, State
from weighbridge.ui.close_look import Closely
from weighbridge.ui.elsewhere_words import served_in_words, where_it_goes
from weighbridge.ui.folders import short
from weighbridge.ui.models.library_row import LibraryRow
from weighbridge.ui.source_words import whose_in_words
from weighbridge.ui.speed_view import SpeedView
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.beside import Beside
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.finding_panel import FindingPanel
from weighbridge.ui.widgets.fitted_area import FittedArea
from weighbridge.ui.widgets.note_line import NoteLine
from weighbridge.ui.widgets.parts import button, column, give_role, label, row, selectable
from weighbridge.ui.widgets.parts_list import PartsList
from weighbridge.ui.widgets.settings_table import SettingsTable
from weighbridge.ui.widgets.template_view import TemplateView
from weighbridge.ui.widgets.weighed_view import WeighedView
from weighbridge_engines.api import STAGES

_TICK_MS = 100
_NOTE_EMS, _TITLE_EMS = 44, 16


class LibraryDetail(QFrame):
    """Shows one row. The buttons only ask; the page acts."""

    load_wanted = Signal()
    settings_wanted = Signal()
    stop_wanted = Signal()
    chat_wanted = Signal()
    pin_wanted = Signal()
    measure_wanted = Signal()
    note_written = Signal(object, str)
    """A Model, and the note that is to stand on it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._row: LibraryRow | None = None
        self._title = ElidedLabel(at_left=True, in_middle=True, least_ems=_TITLE_EMS)
        give_role(self._title, "heading")
        self._badge = Badge(theme, "unknown", "")
        self._path = ElidedLabel(at_left=True, in_middle=True)
        self._note = NoteLine()
        self._note.setMaximumWidth(self.fontMetrics().height() * _NOTE_EMS)
        self._note.written.connect(self._note_written)
        self._served = selectable(label("", wrap=True))
        self._told = selectable(label("", "dim", wrap=True))
        self._told.hide()
        self._preset = selectable(label("", "dim", wrap=True))
        self._preset.hide()
        self._template = TemplateView(theme)
        self._template.fold.unfolded.connect(self._show_unfolded)
        self._parts = PartsList()
        self._more = QPushButton(text("More"))
        self._more.setAutoDefault(False)
        self._more.setAccessibleName(text("More to do with the chosen model"))
        self._load = button(text("Load"), self.load_wanted.emit, "primary")
        self._set = button(text("Settings…"), self.settings_wanted.emit, name=text("Load with settings…"))
        self._set.setToolTip(text("Load with settings…"))
        self._stop = button(text("Stop"), self.stop_wanted.emit)
        self._chat = button(text("Chat"), self.chat_wanted.emit)
        self._pin = button(text("Pin"), self.pin_wanted.emit)
        self._ends = ElidedLabel()
        self._weighed = WeighedView(theme)
        self._weighed.speed.measure_wanted.connect(self.measure_wanted)
        self._stage = label("")
        self._progress = QProgressBar(textVisible=False)
        self._progress.setRange(0, len(STAGES))
        self._progress.setAccessibleName(text("Stage of the load"))
        self._error = FindingPanel(theme)
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
    def more(self) -> QPushButton:
        """Opens the menu of what else can be done."""
        return self._more

    @property
    def failure(self) -> FindingPanel:
        """How its load failed, and what can be done."""
        return self._error

    @property
    def note(self) -> NoteLine:
        """What is noted on the model."""
        return self._note

    @property
    def told(self) -> str:
        """What came of verifying it."""
        return self._told.text()

    @property
    def preset(self) -> str:
        """By which preset it is loaded, as it is said."""
        return self._preset.text()

    def show_preset(self, words: str) -> None:
        """Say by which preset it is loaded; "" for none."""
        self._preset.setText(words)
        self._preset.setVisible(bool(words))

    @property
    def template(self) -> TemplateView:
        """Its chat template, where it was never used."""
        return self._template

    @property
    def parts(self) -> PartsList:
        """What is loaded beside it."""
        return self._parts

    @property
    def ends(self) -> str:
        """What loading would end, as it is said."""
        return self._ends.text()

    def show_ends(self, words: str) -> None:
        """Say beside Load what loading would end; "" where nothing."""
        self._ends.setText(words if not self._load.isHidden() else "")

    @property
    def place(self) -> str:
        """Whose it is, and where."""
        return self._path.text()

    @property
    def served(self) -> str:
        """What its server says of it, where an endpoint serves it; else ""."""
        return self._served.text()

    @property
    def _is_served(self) -> bool:
        return self._row is not None and self._row.model.remote is not None

    @property
    def weighed(self) -> WeighedView:
        """What it needs, and how fast it would be."""
        return self._weighed

    def show_row(
        self,
        shown: LibraryRow,
        close: Closely | None = None,
        speed: SpeedView | None = None,
        *,
        elsewhere: bool = False,
        address: str = "",
    ) -> None:
        """Show `shown`; with `close`, what only a close look tells. `elsewhere`: it was weighed for another machine.
        `address`: where its endpoint is, of what one serves.
        """
        if self._row is not None and self._row.model.id != shown.model.id:
            self._note.leave()
            self.tell("")
        self._row = shown
        model, running = shown.model, shown.running
        self._title.setText(model.title)
        self._show_place(model, address)
        self._note.show_note(shown.mark.note)
        badge = shown.badge
        self._badge.setVisible(badge is not None)
        if badge is not None:
            self._badge.say(*badge)
        self._weighed.show_weighed(shown, close, speed, None if elsewhere else running)
        self._weighed.setVisible(model.remote is None)
        self._show_running(running)
        self._show_buttons(running.state if running else State.STOPPED, model)
        self._show_pin(running)

    def tell(self, words: str) -> None:
        """Say what came of verifying the model; "" says nothing."""
        self._told.setText(words)
        self._told.setVisible(bool(words))

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
        named, acts = QWidget(), QWidget()
        row(self._title, self._badge, self._weighed.fit, self._weighed.where, self._ends, owner=named).setStretch(4, 1)
        row(self._more, self._chat, self._pin, self._stop, self._set, self._load, owner=acts)
        top = row(Beside(named, acts))
        loading = row(self._progress, self._stage, gap=3)
        loading.setStretch(0, 1)
        self._loading = QWidget()
        self._loading.setLayout(loading)
        loading.setContentsMargins(0, 0, 0, 0)
        left = column(self._parts, self._weighed, self._loading, self._template, None, gap=2)
        self._settings.setMinimumWidth(self.fontMetrics().height() * 16)
        middle = row(left, column(self._settings, None), gap=6)
        middle.setStretch(0, 1)
        inner = QWidget()
        held = column(
            self._error, self._path, self._served, self._note, self._told, self._preset, middle, owner=inner, gap=2
        )
        held.setContentsMargins(4 * STEP, 0, 4 * STEP, 3 * STEP)
        top.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 0)
        self._area = FittedArea(inner)
        outer = column(top, self._area, owner=self, gap=2)
        outer.setContentsMargins(1, 1, 1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def _show_place(self, model: Model, address: str) -> None:
        place = short(model.path, Path.home()) if model.remote is None else address
        self._path.setText(" · ".join(filter(None, (whose_in_words(model), place))))
        served = () if model.remote is None else (served_in_words(model.remote), where_it_goes(model.remote))
        self._served.setText(" ".join(served))
        self._served.setVisible(bool(served))

    def _show_unfolded(self, is_open: bool) -> None:
        """What was unfolded comes into sight, once it has its place."""
        if is_open:
            QTimer.singleShot(0, self, lambda: self._area.ensureWidgetVisible(self._template))

    def _note_written(self, note: str) -> None:
        if self._row is not None:
            self.note_written.emit(self._row.model, note)

    def _show_running(self, running: Running | None) -> None:
        loading = running is not None and running.state is State.LOADING
        self._loading.setVisible(loading)
        ready = running is not None and running.state is State.READY
        self._settings.setVisible(ready and not self._is_served)
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
        self._stage.setText(load_in_words(running, time.monotonic()))
        self._progress.setValue(STAGES.index(running.stage) + 1 if running.stage in STAGES else 0)

    def _show_pin(self, running: Running | None) -> None:
        """Only what is loaded, or loads, can be kept."""
        held = running is not None and running.state in (State.LOADING, State.READY)
        self._pin.setVisible(held and not self._is_served)
        pinned = running is not None and running.pinned
        self._pin.setText(text("Unpin") if pinned else text("Pin"))
        self._pin.setAccessibleName(self._pin.text())
        self._pin.setToolTip(text("A pinned model is not ended to make room, nor for being unused"))

    def _show_buttons(self, state: State, model: Model) -> None:
        """Nothing is loaded for what an endpoint serves: its server is asked whether it is there."""
        whole, active = model.problem is None, state in (State.LOADING, State.READY, State.STOPPING)
        load = text("Connect") if self._is_served else text("Load")
        self._load.setText(load)
        self._load.setAccessibleName(load)
        self._load.setVisible(whole and not active)
        self._stop.setVisible(active)
        self._stop.setEnabled(state is not State.STOPPING)
        end = text("Disconnect") if self._is_served else text("Stop")
        words = text("Cancel") if state is State.LOADING else end
        self._stop.setText(words)
        self._stop.setAccessibleName(words)
        self._chat.setVisible(whole)
        self._set.setVisible(whole and not active and not self._is_served)
