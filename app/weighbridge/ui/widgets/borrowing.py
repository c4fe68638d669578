"""A panel that asks something has the focus for as long as that takes."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QFrame, QWidget
from shiboken6 import isValid


class BorrowingFrame(QFrame):
    """What had the focus before it was borrowed has it again when the panel goes. `turned`: it came, or went."""

    turned = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before: QWidget | None = None

    def borrow_focus(self, wanted: QWidget) -> None:
        """Give the focus to `wanted`, which is in this panel."""
        focused = QApplication.focusWidget()
        if focused is not None and not self.isAncestorOf(focused):
            self._before = focused
        wanted.setFocus()

    def setVisible(self, visible: bool) -> None:
        """What had the focus before has it again."""
        before, self._before = self._before, None if not visible else self._before
        focused = QApplication.focusWidget()
        had_it = not visible and focused is not None and self.isAncestorOf(focused)
        super().setVisible(visible)
        if had_it and before is not None and isValid(before) and before.isVisible():
            before.setFocus()
        self.turned.emit()
