"""A line that unfolds what stands below it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from weighbridge.ui.icons import icon
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.parts import button, column, row


class Fold(QWidget):
    """`inner` is hidden until the line is pressed. `unfolded` tells each time which it is."""

    unfolded = Signal(bool)

    def __init__(self, theme: Theme, inner: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._inner = inner
        self._line = button("", self.toggle, "line")
        column(row(self._line, None), inner, owner=self, gap=1)
        inner.hide()
        theme.changed.connect(self._tint)
        self._tint()

    @property
    def line(self) -> QPushButton:
        """What is pressed."""
        return self._line

    @property
    def is_open(self) -> bool:
        """Whether `inner` is shown."""
        return not self._inner.isHidden()

    def say(self, words: str) -> None:
        """Name what is folded."""
        self._line.setText(words)
        self._line.setAccessibleName(words)

    def toggle(self) -> None:
        """Unfold it, or fold it again."""
        self.show_open(not self.is_open)

    def show_open(self, is_open: bool) -> None:
        """Unfold it or fold it."""
        if is_open != self.is_open:
            self._inner.setVisible(is_open)
            self._tint()
            self.unfolded.emit(is_open)

    def _tint(self) -> None:
        self._line.setIcon(icon("down" if self.is_open else "right", self._theme.tokens.dim))
