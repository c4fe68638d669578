"""The button that names the model messages go to, and its menu of what is in the Library."""

from __future__ import annotations

from collections.abc import Sequence, Set

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QPaintEvent
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

from weighbridge.base.units import number
from weighbridge.base.words import plural, text
from weighbridge.library.model import Model
from weighbridge.running.state import Running, State
from weighbridge.ui.elsewhere_words import leaving_in_words
from weighbridge.ui.running_words import running_of, word_of

LONGEST = 44
MOST_ENTRIES = 200
"""A menu of thousands, as hosted services have them, takes a second to open, and nobody finds anything in it."""

_LEAST_EMS = 10


class ModelSwitcher(QPushButton):
    """Emits `chosen` with the id of a model, `pin_wanted` with an id and whether to pin, `more_wanted` where there are
    more models than a menu holds. Where there is little room, the middle of the name gives way: both ends tell models
    apart.
    """

    chosen = Signal(str)
    more_wanted = Signal()
    pin_wanted = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("switcher")
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setToolTip(text("Choose the model (Ctrl+L)"))
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self._models: tuple[Model, ...] = ()
        self._running: tuple[Running, ...] = ()
        self._chosen: Model | None = None
        self.setMenu(self._menu)
        self.show_models((), (), None)

    def show_models(self, models: Sequence[Model], running: Sequence[Running], chosen: Model | None) -> None:
        """Name `chosen`; offer `models`, each with what it is doing, and whether what is asked of it leaves."""
        title = chosen.title if chosen is not None else text("No model")
        self.setText(_cut(title))
        self.setAccessibleName(text("Model: {model}", model=title))
        self.setEnabled(bool(models))
        self._models, self._running, self._chosen = tuple(models), tuple(running), chosen

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(hint.width(), _LEAST_EMS * self.fontMetrics().height()), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        option, painter = QStyleOptionButton(), QStylePainter(self)
        self.initStyleOption(option)
        short = self.sizeHint().width() - self.width()
        if short > 0:
            metrics = self.fontMetrics()
            room = metrics.horizontalAdvance(self.text()) - short
            option.text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()

    def _fill(self) -> None:
        self._menu.clear()
        offered = _offered(self._models, {one.model_id for one in self._running}, self._chosen)
        for model in offered:
            self._menu.addAction(self._entry(model, running_of(model.id, self._running)))
        if more := len(self._models) - len(offered):
            words = plural("Find one of {count} more…", "Find one of {count} more…", more, count=number(more))
            self._menu.addAction(words).triggered.connect(lambda _checked: self.more_wanted.emit())
        running = running_of(self._chosen.id, self._running) if self._chosen is not None else None
        served = self._chosen is not None and self._chosen.remote is not None
        if running is not None and not served and running.state in (State.LOADING, State.READY):
            self._menu.addSeparator()
            self._menu.addAction(self._pin(running))

    def _entry(self, model: Model, running: Running | None) -> QAction:
        chosen = self._chosen
        known = running is not None and running.state is not State.STOPPED
        doing = word_of(running) if running is not None and known else ""
        state = " · ".join(filter(None, (leaving_in_words(model), doing)))
        made = QAction(f"{_cut(model.title)}\t{state}" if state else _cut(model.title), self._menu)
        made.setCheckable(True)
        made.setChecked(chosen is not None and chosen.id == model.id)
        made.setEnabled(model.problem is None)
        made.setToolTip(model.title)
        made.triggered.connect(lambda _checked, model_id=model.id: self.chosen.emit(model_id))
        return made

    def _pin(self, running: Running) -> QAction:
        title = _cut(running.title)
        words = text("Unpin {model}", model=title) if running.pinned else text("Pin {model}", model=title)
        made = QAction(words, self._menu)
        made.setToolTip(text("A pinned model is not ended to make room, nor for being unused"))
        made.triggered.connect(lambda _checked: self.pin_wanted.emit(running.model_id, not running.pinned))
        return made


def _offered(models: Sequence[Model], running: Set[str], chosen: Model | None) -> Sequence[Model]:
    """Those that the menu holds, in their order: what is chosen or runs, then files, then what endpoints serve."""
    if len(models) <= MOST_ENTRIES:
        return models
    known = running if chosen is None else {*running, chosen.id}
    first = sorted(models, key=lambda model: (model.id not in known, model.remote is not None))[:MOST_ENTRIES]
    ids = {model.id for model in first}
    return [model for model in models if model.id in ids]


def _cut(title: str) -> str:
    shown = title if len(title) <= LONGEST else title[: LONGEST - 1] + "…"
    return shown.replace("&", "&&")
