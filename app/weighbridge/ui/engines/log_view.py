"""Lines of a log, folded, that may grow while they are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.parts import column, fixed_font

_LINES = 10
_MOST = 2_000
"""So many lines are kept in sight; the file has them all."""


class LogView(QWidget):
    """Hidden until it is given lines."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._count = 0
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setFont(fixed_font())
        self._text.setAccessibleName(name)
        self._text.setMaximumBlockCount(_MOST)
        self._text.setFixedHeight(self.fontMetrics().height() * _LINES)
        self._text.setTabChangesFocus(True)
        self._fold = Fold(theme, self._text)
        self._fold.say(name)
        column(self._fold, owner=self)
        self.hide()

    @property
    def fold(self) -> Fold:
        """Shows and hides the lines."""
        return self._fold

    @property
    def shown(self) -> str:
        """The lines as they stand."""
        return self._text.toPlainText()

    def show_lines(self, lines: Sequence[str] | None) -> None:
        """Show these: what is new is put below what is there. None: there are none."""
        self.setVisible(lines is not None)
        if lines is None or len(lines) < self._count:
            self._text.clear()
            self._count = 0
        if lines is not None and len(lines) > self._count:
            new = list(lines)[self._count :]
            self._count += len(new)
            self._text.appendPlainText("\n".join(new))
