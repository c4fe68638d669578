"""The speed of a model: its figures, the reckoning behind them to unfold, or why it is unknown and what to do."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.ui.speed_view import SpeedView
from weighbridge.ui.widgets.figure import Figure
from weighbridge.ui.widgets.parts import button, column, label, row, selectable

_FIGURES = 3


class SpeedPanel(QWidget):
    """`measure_wanted` asks for the bandwidth of the memory here. What is unfolded stays so from model to model."""

    measure_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unfolded = False
        self._text = ""
        self._figures = tuple(Figure("") for _ in range(_FIGURES))
        self._fold = button("", self.toggle, "quiet")
        self._reasons = selectable(label("", wrap=True))
        self._reasons.setAccessibleName(text("Why this speed"))
        self._reasons.hide()
        self._unknown = selectable(label("", wrap=True))
        self._measure = button(text("Measure (under 3 s)"), self.measure_wanted.emit)
        self._measure.setAccessibleDescription(text("Measures how fast the memory of this machine is"))
        unknown = row(self._unknown, self._measure, gap=3)
        unknown.setStretch(0, 1)
        column(row(*self._figures, self._fold, None, gap=5), self._reasons, unknown, owner=self, gap=1)
        self._name_fold()
        self.show_view(SpeedView())

    @property
    def figures(self) -> list[Figure]:
        """The figures that are shown."""
        return [each for each in self._figures if not each.isHidden()]

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
        self.setVisible(bool(view.figures or view.unknown))

    def show_measuring(self, measuring: bool) -> None:
        """Say that the memory is being measured, or no longer."""
        self._measure.setEnabled(not measuring)
        self._measure.setText(text("Measuring…") if measuring else text("Measure (under 3 s)"))

    def toggle(self) -> None:
        """Unfold the reckoning, or fold it."""
        self._unfolded = not self._unfolded
        self._name_fold()
        self._show_reasons()

    def _show_reasons(self) -> None:
        self._reasons.setText(self._text if self._unfolded else "")
        self._reasons.setVisible(self._unfolded and bool(self._text))

    def _name_fold(self) -> None:
        name = text("Why this speed")
        self._fold.setText(f"▾ {name}" if self._unfolded else f"▸ {name}")
        self._fold.setAccessibleName(name)
        self._fold.setAccessibleDescription(text("unfolded") if self._unfolded else text("folded"))
