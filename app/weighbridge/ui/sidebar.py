"""The pages at the left; at the foot those about the program itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QVBoxLayout, QWidget

from weighbridge.base.words import mark, text
from weighbridge.ui.icons import icon
from weighbridge.ui.theme import STEP, Theme

_ICON_EMS = 1.3


@dataclass(frozen=True)
class PageEntry:
    """A page as the sidebar and the palette know it: its name in code, its title, its keys, and whether it stands at
    the foot.
    """

    name: str
    title: str
    keys: str
    at_foot: bool = False


PAGES: Sequence[PageEntry] = (
    PageEntry("discover", mark("Discover"), "Ctrl+1"),
    PageEntry("library", mark("Library"), "Ctrl+2"),
    PageEntry("chat", mark("Chat"), "Ctrl+3"),
    PageEntry("server", mark("Server"), "Ctrl+4"),
    PageEntry("engines", mark("Engines"), "Ctrl+5"),
    PageEntry("advisor", mark("Advisor"), "Ctrl+6"),
    PageEntry("machine", mark("Machine"), "Ctrl+7"),
    PageEntry("downloads", mark("Downloads"), "Ctrl+8", at_foot=True),
    PageEntry("network", mark("Network"), "Ctrl+9", at_foot=True),
    PageEntry("settings", mark("Settings"), "Ctrl+,", at_foot=True),
)


class Sidebar(QFrame):
    """One button a page. Narrow windows show the icons alone."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self._theme = theme
        self._narrow = False
        self._icon_side = round(self.fontMetrics().height() * _ICON_EMS)
        self._group = QButtonGroup(self)
        self._buttons = {page.name: self._page_button(page) for page in PAGES}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * STEP, 3 * STEP, 2 * STEP, 3 * STEP)
        layout.setSpacing(STEP // 2)
        for at_foot in (False, True):
            if at_foot:
                layout.addStretch(1)
            for page in PAGES:
                if page.at_foot is at_foot:
                    layout.addWidget(self._buttons[page.name])
        theme.changed.connect(self._tint)
        self._tint()
        self._size()

    def show_page(self, name: str) -> None:
        """Mark the page that is shown. Tab comes to its button, arrows go on to the others."""
        self._buttons[name].setChecked(True)
        for each, made in self._buttons.items():
            made.setFocusPolicy(Qt.FocusPolicy.StrongFocus if each == name else Qt.FocusPolicy.ClickFocus)

    def note(self, name: str, note: str) -> None:
        """A short word after a page's title: how many models, that the port is open."""
        self._buttons[name].say(note)

    def use_narrow(self, narrow: bool) -> None:
        """Show icons alone, or icons with titles."""
        if narrow != self._narrow:
            self._narrow = narrow
            self._write()
            self._size()

    def _page_button(self, page: PageEntry) -> _PageButton:
        made = _PageButton(self._theme, text(page.title))
        made.setIconSize(QSize(self._icon_side, self._icon_side))
        keys = QKeySequence(page.keys).toString(QKeySequence.SequenceFormat.NativeText)
        made.setToolTip(f"{text(page.title)}  {keys}")
        made.setAccessibleName(text(page.title))
        made.clicked.connect(lambda: self.chosen.emit(page.name))
        self._group.addButton(made)
        return made

    def _write(self) -> None:
        for page in PAGES:
            self._buttons[page.name].setText("" if self._narrow else text(page.title))

    def _tint(self) -> None:
        tokens = self._theme.tokens
        for name, made in self._buttons.items():
            made.setIcon(icon(name, tokens.dim, tokens.accent, self._icon_side))

    def _size(self) -> None:
        em = self.fontMetrics().height()
        self.setFixedWidth(self._icon_side + 10 * STEP if self._narrow else max(em * 12, 46 * STEP))


class _PageButton(QPushButton):
    """A page's button, with its note at the right edge."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__(title)
        self.setCheckable(True)
        self._theme = theme
        self._note = ""
        self.setProperty("role", "page")

    def say(self, note: str) -> None:
        """Show `note`."""
        self._note = note
        self.setAccessibleDescription(note)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._note or not self.text():
            return
        painter = QPainter(self)
        painter.setPen(QColor(self._theme.tokens.dim))
        taken = self.sizeHint().width() - STEP  # the icon and the title; its right padding is the gap
        place = self.rect().adjusted(taken, 0, -2 * STEP, 0)
        note = painter.fontMetrics().elidedText(self._note, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, _RIGHT, note)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
