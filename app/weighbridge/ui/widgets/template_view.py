"""The chat template of a model, folded: text to read before the model is used for the first time. It is not run."""

from __future__ import annotations

from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.fold import Fold
from weighbridge.ui.widgets.parts import column, fixed_font

MOST_SHOWN = 100_000
"""Characters; what is longer is cut, for a window would stand while it is laid out. Real ones have some thousand."""

_MOST_LINES, _ROOM_LINES = 12, 2
"""So many lines are seen at once; a short text has some room around it."""


class TemplateView(QWidget):
    """Hidden until there is a template to show."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setFont(fixed_font())
        self._text.setAccessibleName(text("Chat template"))
        self._text.setTabChangesFocus(True)
        self._text.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)  # a long word costs no more than others
        self._template: str | None = None
        self._fold = Fold(theme, self._text)
        column(self._fold, owner=self)
        self.hide()

    @property
    def fold(self) -> Fold:
        """The line that unfolds it."""
        return self._fold

    @property
    def template(self) -> str:
        """What is shown."""
        return self._text.toPlainText()

    def show_template(self, template: str | None, owner: str = "") -> None:
        """Show a template, of the model that `owner` made ("": nobody knows who); None: nothing."""
        if template is not None:
            self._fold.say(text("Chat template, from {owner}", owner=owner) if owner else text("Chat template"))
            if template != self._template:
                self._template = template
                self._text.setPlainText(template if len(template) <= MOST_SHOWN else f"{template[:MOST_SHOWN]}\n…")
                lines = min(_MOST_LINES, self._text.blockCount() + _ROOM_LINES)
                self._text.setFixedHeight(self._text.fontMetrics().lineSpacing() * lines)
        self.setVisible(template is not None)
