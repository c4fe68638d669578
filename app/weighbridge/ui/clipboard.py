"""Copying, with a word that it was done."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from weighbridge.base.words import text


def copy(words: str, beside: QWidget) -> None:
    """Put `words` on the clipboard and say so below the widget that was pressed."""
    QApplication.clipboard().setText(words)
    QToolTip.showText(beside.mapToGlobal(QPoint(0, beside.height())), text("Copied"), beside)
