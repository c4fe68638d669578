"""The head of the Library: its title, the search, and the buttons that stand beside it."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QWidget

from weighbridge.base.words import text
from weighbridge.ui.icons import icon
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.parts import button, label, row

_SEARCH_EMS, _NARROW_EMS = 26, 44
"""Where the head is narrower, the last button shows its picture alone."""


class LibraryHead(QWidget):
    """`search` is where words are typed; `add` opens a menu. Whoever holds this says what the buttons do."""

    def __init__(self, theme: Theme, filters: QWidget, opener: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.search = QLineEdit(clearButtonEnabled=True)
        self.search.setProperty("role", "search")
        self.search.setPlaceholderText(text("Search the Library"))
        self.search.setAccessibleName(text("Search the Library"))
        self.search.setMaximumWidth(self.fontMetrics().height() * _SEARCH_EMS)
        self.add = QPushButton(text("Add"))
        self.add.setAutoDefault(False)
        self.add.setAccessibleName(text("Add a file or a folder"))
        self.add.setMenu(QMenu(self.add))
        self.rescan = button(text("Rescan"), lambda: None)
        self.rescan.setToolTip(text("Rescan"))
        title = label(text("Library"), "title")
        held = row(title, self.search, filters, None, self.add, opener, self.rescan, owner=self, gap=3)
        held.setStretch(1, 1)
        theme.changed.connect(self._tint)
        self._tint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < self.fontMetrics().height() * _NARROW_EMS
        self.rescan.setText("" if narrow else text("Rescan"))

    def _tint(self) -> None:
        self.rescan.setIcon(icon("rescan", self._theme.tokens.text))
        glyph = icon("search", self._theme.tokens.dim)
        for old in self.search.actions():
            if old.objectName() == "glyph":
                self.search.removeAction(old)
        self.search.addAction(glyph, QLineEdit.ActionPosition.LeadingPosition).setObjectName("glyph")
