"""The speed of a model: its figures, the reckoning behind them to unfold, or why it is unknown and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QPushButton, QSpinBox, QWidget

from weighbridge.base.units import THIN
from weighbridge.base.words import text
from weighbridge.ui.icons import icon
from weighbridge.ui.speed_view import SpeedView
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.figure import Figure
from weighbridge.ui.widgets.flow import Flow
from weighbridge.ui.widgets.parts import button, column, label, row, selectable

MOST_TPS = 2000
_FIGURES = 3


class SpeedPanel(QWidget):
    """`measure_wanted` asks for the bandwidth of the memory here, `speed_wanted` for what would reach a speed in tokens
    a second, or for nothing (None). What is unfolded stays so from model to model.
    """

    measure_wanted = Signal()
    speed_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._unfolded = False
        self._text = ""
        self._figures = tuple(Figure("") for _ in range(_FIGURES))
        self._least = _Least()
        self._least.valueChanged.connect(lambda tps: self.speed_wanted.emit(float(tps) if tps else None))
        self._fold = button(text("Why this speed"), self.toggle, "line")
        self._reasons = selectable(label("", wrap=True))
        self._reasons.setAccessibleName(text("Why this speed"))
        self._unknown = selectable(label("", wrap=True))
        self._measure = button(text("Measure (under 3 s)"), self.measure_wanted.emit)
        self._measure.setAccessibleDescription(text("Measures how fast the memory of this machine is"))
        self._lay_out()
        theme.changed.connect(self._show_fold)
        self._show_fold()
        self.show_view(SpeedView())

    @property
    def figures(self) -> list[Figure]:
        """The figures that are shown."""
        return [each for each in self._figures if not each.isHidden()]

    @property
    def least(self) -> QSpinBox:
        """The speed that is wanted; 0: any."""
        return self._least

    @property
    def fold(self) -> QPushButton:
        """Unfolds and folds the reckoning."""
        return self._fold

    @property
    def reasons(self) -> str:
        """The reckoning, where it is unfolded."""
        return "" if self._reasons.isHidden() else self._reasons.text()

    @property
    def unknown(self) -> str:
        """Why the speed is unknown."""
        return "" if self._unknown.isHidden() else self._unknown.text()

    @property
    def measure(self) -> QPushButton:
        """Measures the memory here."""
        return self._measure

    def show_view(self, view: SpeedView) -> None:
        """Show `view`."""
        for place, figure in enumerate(self._figures):
            there = place < len(view.figures)
            figure.setVisible(there)
            if there:
                told = view.figures[place]
                figure.rename(told.name)
                figure.say(told.value, told.basis)
        self._fold.setVisible(bool(view.reasons))
        self._text = "\n".join(view.reasons)
        self._show_reasons()
        self._unknown.setVisible(bool(view.unknown))
        self._unknown.setText(view.unknown)
        self._measure.setVisible(view.measurable)
        self.setVisible(view.there)

    def show_measuring(self, measuring: bool) -> None:
        """Say that the memory is being measured, or no longer."""
        self._measure.setEnabled(not measuring)
        self._measure.setText(text("Measuring…") if measuring else text("Measure (under 3 s)"))

    def show_wanted(self, tps: float | None) -> None:
        """Show which speed is wanted, and tell nobody."""
        blocked = self._least.blockSignals(True)
        self._least.setValue(round(tps or 0))
        self._least.blockSignals(blocked)

    def toggle(self) -> None:
        """Unfold the reckoning, or fold it."""
        self._unfolded = not self._unfolded
        self._show_fold()
        self._show_reasons()

    def _lay_out(self) -> None:
        wanted = QWidget()
        named = label(text("Wanted speed"), "dim")
        named.setBuddy(self._least)
        row(named, self._least, owner=wanted, gap=1)
        unknown = row(self._unknown, self._measure, gap=3)
        unknown.setStretch(0, 1)
        column(unknown, Flow(*self._figures, wanted, self._fold, gap=5), self._reasons, owner=self, gap=1)

    def _show_reasons(self) -> None:
        self._reasons.setText(self._text if self._unfolded else "")
        self._reasons.setVisible(self._unfolded and bool(self._text))

    def _show_fold(self) -> None:
        self._fold.setIcon(icon("down" if self._unfolded else "right", self._theme.tokens.dim))
        self._fold.setAccessibleDescription(text("unfolded") if self._unfolded else text("folded"))


class _Least(QSpinBox):
    """The speed that is wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.setRange(0, MOST_TPS)
        self.setSpecialValueText(text("any"))
        self.setSuffix(f"{THIN}tok/s")
        self.setKeyboardTracking(False)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(text("Wanted speed in tokens a second"))
        self.setToolTip(text("What it would take to write at least so fast"))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the panel and changes nothing on its way."""
        event.ignore()
