"""The pane at the right: what was asked of the engine and what it does, load settings, sampling, system prompt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from weighbridge.base.words import text
from weighbridge.chat.client import Sampling
from weighbridge.running.state import Setting
from weighbridge.ui.chat.options import Options
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.parts import button, column, label, row
from weighbridge.ui.widgets.settings_table import SettingsTable

WIDTH_LINES = 19
"""Width of the pane, in heights of the font in use."""
SETTLE_MS = 400
"""A value that is being typed is taken once it has stood this long."""


class OptionsPane(QFrame):
    """Holds the options of the conversation that is open. Emits `changed` when the user changed one."""

    changed = Signal()
    reload_wanted = Signal()
    settings_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setFixedWidth(WIDTH_LINES * self.fontMetrics().height())
        self._table = SettingsTable(theme, roomy=True)
        self._none = label(text("No model is loaded."), "dim", wrap=True)
        self._context = Whole(256, 1_048_576, 1024)
        self._threads = Whole(1, 256, 1)
        self._temperature = Real(2.0, 0.1)
        self._top_k = Whole(0, 1000, 10)
        self._top_p = Real(1.0, 0.05)
        self._min_p = Real(1.0, 0.01)
        self._seed = Whole(0, 2**31 - 1, 1, text("random"))
        self._prompt = QPlainTextEdit()
        self._prompt.setTabChangesFocus(True)
        self._prompt.setPlaceholderText(text("None"))
        self._prompt.setAccessibleName(text("System prompt"))
        self._prompt.setFixedHeight(self.fontMetrics().lineSpacing() * 6)
        self._note = label(text("A change of context or threads loads the model again with the next message."), "dim")
        self._note.setWordWrap(True)
        self._reload = button(text("Load again now"), self.reload_wanted.emit)
        self._all = button(text("Load with settings…"), self.settings_wanted.emit)
        self._loaded = QWidget()
        self._samplers: Mapping[str, QSpinBox | QDoubleSpinBox] = {
            "temperature": self._temperature,
            "top_k": self._top_k,
            "top_p": self._top_p,
            "min_p": self._min_p,
            "seed": self._seed,
        }
        self._elsewhere = label("", "dim", wrap=True)
        self._unsent = label("", "dim", wrap=True)
        self._unsent.hide()
        self._settle = QTimer(self, interval=SETTLE_MS, singleShot=True)
        self._settle.timeout.connect(self.changed)
        self._build()
        self.show_effective((), differs=False)
        self.show_served(None)

    @property
    def unsent(self) -> str:
        """Which samplers are not sent, and why, as it is said."""
        return self._unsent.text()

    @property
    def elsewhere(self) -> str:
        """Who says how the model is loaded, where that is not for the user to say."""
        return self._elsewhere.text()

    @property
    def samplers(self) -> Mapping[str, QSpinBox | QDoubleSpinBox]:
        """The fields of sampling, by their names in a request."""
        return self._samplers

    @property
    def options(self) -> Options:
        """What is asked for."""
        return Options(
            context=self._context.asked(),
            threads=self._threads.asked(),
            sampling=Sampling(
                temperature=self._temperature.asked(),
                top_k=self._top_k.asked(),
                top_p=self._top_p.asked(),
                min_p=self._min_p.asked(),
                seed=self._seed.asked(),
            ),
            system_prompt=self._prompt.toPlainText(),
        )

    def show_options(self, options: Options) -> None:
        """Show the options of a conversation."""
        self._context.ask(options.context)
        self._threads.ask(options.threads)
        self._temperature.ask(options.sampling.temperature)
        self._top_k.ask(options.sampling.top_k)
        self._top_p.ask(options.sampling.top_p)
        self._min_p.ask(options.sampling.min_p)
        self._seed.ask(options.sampling.seed)
        if self._prompt.toPlainText() != options.system_prompt:
            self._prompt.setPlainText(options.system_prompt)
        self._settle.stop()

    def show_effective(self, settings: tuple[Setting, ...], *, differs: bool) -> None:
        """What the loaded engine says; `differs` where the next message would load it again."""
        self._table.setVisible(bool(settings))
        self._none.setVisible(not settings)
        self._table.show_settings(settings)
        self._note.setVisible(differs)
        self._reload.setVisible(differs)

    def show_served(self, endpoint: str | None, lacking: Collection[str] = ()) -> None:
        """The model is served by this endpoint, which does not understand the fields `lacking` of a request; None: it
        is loaded here, and understands all.
        """
        self._loaded.setVisible(endpoint is None)
        self._elsewhere.setVisible(endpoint is not None)
        self._elsewhere.setText(
            text("How it is loaded is for {endpoint} to say.", endpoint=endpoint) if endpoint else ""
        )
        unsent = text("{endpoint} does not understand it: it is not sent.", endpoint=endpoint or "")
        for name, field in self._samplers.items():
            field.setEnabled(name not in lacking)
            field.setToolTip(unsent if name in lacking else "")
        names = [field.accessibleName() for name, field in self._samplers.items() if name in lacking]
        listed = text(
            "{names}: not sent, for {endpoint} does not understand these.",
            endpoint=endpoint or "",
            names=", ".join(names),
        )
        self._unsent.setText(listed if names else "")
        self._unsent.setVisible(bool(names))

    def shut(self) -> None:
        """The page goes away."""
        self._settle.stop()

    def _build(self) -> None:
        inner = QWidget()
        inner.setObjectName("scrolled")
        load = _form((text("Context, tokens"), self._context), (text("Threads"), self._threads))
        sampling = _form(
            (text("Temperature"), self._temperature),
            ("Top-k", self._top_k),
            ("Top-p", self._top_p),
            ("Min-p", self._min_p),
            (text("Seed"), self._seed),
        )
        column(
            _heading(text("Requested → effective")),
            self._table,
            self._none,
            _heading(text("Load settings"), below=True),
            load,
            self._note,
            row(self._reload, self._all, None),
            owner=self._loaded,
            gap=2,
        )
        column(
            self._loaded,
            self._elsewhere,
            _heading(text("Sampling"), below=True),
            sampling,
            self._unsent,
            _heading(text("System prompt"), below=True),
            self._prompt,
            None,
            owner=inner,
            margin=3,
            gap=2,
        )
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        column(area, owner=self, margin=0).setContentsMargins(1, 1, 1, 1)
        for field in (self._context, self._threads, self._top_k, self._seed):
            field.valueChanged.connect(lambda _value: self._settle.start())
        for real in (self._temperature, self._top_p, self._min_p):
            real.valueChanged.connect(lambda _value: self._settle.start())
        self._prompt.textChanged.connect(self._settle.start)


class Whole(QSpinBox):
    """A whole number, or a word for "left to the engine" below its least value."""

    def __init__(self, least: int, most: int, step: int, unset: str = "") -> None:
        super().__init__()
        self._least = least
        self.setRange(least - 1, most)
        self.setSingleStep(step)
        self.setSpecialValueText(unset or text("auto"))
        self.setGroupSeparatorShown(least >= 256)
        self.setValue(least - 1)
        _settle_field(self)

    def asked(self) -> int | None:
        """The value, or None."""
        return None if self.value() < self._least else self.value()

    def ask(self, value: int | None) -> None:
        """Show `value`."""
        self.setValue(self._least - 1 if value is None else value)

    def stepBy(self, steps: int) -> None:
        """From "auto" the first step goes to a round value."""
        was_unset = self.asked() is None
        super().stepBy(steps)
        if was_unset and steps > 0 and self.singleStep() > 1:
            self.setValue(max(self._least, self.singleStep() * steps))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the pane; it changes a value only where one is being edited."""
        _wheel(self, event, super().wheelEvent)


class Real(QDoubleSpinBox):
    """A number from 0 on, or a word for "left to the engine" below it."""

    def __init__(self, most: float, step: float) -> None:
        super().__init__()
        self.setDecimals(2)
        self.setRange(-step, most)
        self.setSingleStep(step)
        self.setSpecialValueText(text("auto"))
        self.setValue(-step)
        _settle_field(self)

    def asked(self) -> float | None:
        """The value, or None."""
        return None if self.value() < 0 else round(self.value(), 2)

    def ask(self, value: float | None) -> None:
        """Show `value`."""
        self.setValue(self.minimum() if value is None else value)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """See `Whole`."""
        _wheel(self, event, super().wheelEvent)


def _settle_field(field: QSpinBox | QDoubleSpinBox) -> None:
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.setKeyboardTracking(False)


def _wheel(field: QSpinBox | QDoubleSpinBox, event: QWheelEvent, act: Callable[[QWheelEvent], None]) -> None:
    if field.hasFocus():
        act(event)
    else:
        event.ignore()


def _heading(words: str, *, below: bool = False) -> QLabel:
    made = label(words, "heading")
    made.setContentsMargins(0, 3 * STEP if below else 0, 0, STEP)
    return made


def _form(*lines: tuple[str, QSpinBox | QDoubleSpinBox]) -> QWidget:
    made = QWidget()
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(STEP)
    grid.setColumnStretch(0, 1)
    for number, (name, field) in enumerate(lines):
        words = QLabel(name)
        words.setBuddy(field)
        field.setAccessibleName(name)
        field.lineEdit().setAccessibleName(name)
        field.setFixedWidth(7 * field.fontMetrics().height())
        grid.addWidget(words, number, 0)
        grid.addWidget(field, number, 1)
    return made
