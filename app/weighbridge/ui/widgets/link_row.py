"""A link in a text of others is opened only after its whole address was shown."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import STEP
from weighbridge.ui.widgets.parts import button, column, label, row, selectable

SCHEMES = ("http", "https", "mailto")
_LONGEST = 2_000


class LinkRow(QFrame):
    """Hidden until a link is clicked; then its address, with Open, Copy and Close."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._address = ""
        self._what = label("", "dim")
        self._shown = selectable(label("", "figure", wrap=True))
        self._open = button(text("Open"), self.open)
        copy = button(text("Copy address"), self._copy, "quiet")
        close = button(text("Close"), self.hide, "quiet", text("Do not open the link"))
        outer = column(self._what, self._shown, row(self._open, copy, close, None), owner=self, gap=1)
        outer.setContentsMargins(3 * STEP, 2 * STEP, 3 * STEP, 2 * STEP)
        self.hide()

    def ask(self, address: str) -> None:
        """Show `address`; offer to open it where its kind may be opened."""
        allowed = may_open(address)
        self._address = address
        self._what.setText(text("Open this address in the browser?") if allowed else text("Not opened: this address"))
        self._shown.setText(_broken(address[:_LONGEST]))
        self._open.setVisible(allowed)
        self.setAccessibleName(f"{self._what.text()} {address[:_LONGEST]}")
        self.show()
        self._open.setFocus()

    def open(self) -> None:
        """Hand the address to the system."""
        if may_open(self._address):
            QDesktopServices.openUrl(QUrl(self._address, QUrl.ParsingMode.StrictMode))
        self.hide()

    def _copy(self) -> None:
        QApplication.clipboard().setText(self._address)


def may_open(address: str) -> bool:
    """Whether an address is of a kind that may be opened: web or mail, and well-formed."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    return url.isValid() and url.scheme().lower() in SCHEMES and (url.scheme() == "mailto" or bool(url.host()))


def _broken(address: str) -> str:
    """Zero-width spaces, so that a long address wraps."""
    return "\u200b".join(address[at : at + 8] for at in range(0, len(address), 8))
