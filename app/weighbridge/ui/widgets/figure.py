"""A figure that tells where it comes from, on hover, focus or click."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFocusEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from weighbridge.ui.widgets.parts import label, row


class Figure(QWidget):
    """A dim name, a value, and its basis: one sentence with its numbers."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._shown_name = label(name, "dim")
        self._value = label("", "figure")
        self._basis = ""
        row(self._shown_name, self._value, owner=self, gap=1)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(name)

    def rename(self, name: str) -> None:
        """Be another figure; `say` its value next."""
        self._name = name
        self._shown_name.setText(name)

    @property
    def name(self) -> str:
        """What it is."""
        return self._name

    def say(self, value: str, basis: str) -> None:
        """Show `value`, said to come from `basis`."""
        self._basis = basis
        self._value.setText(value)
        self.setToolTip(basis)
        self.setAccessibleName(f"{self._name} {value}")
        self.setAccessibleDescription(basis)

    @property
    def value(self) -> str:
        """The value shown."""
        return self._value.text()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self._tell()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        QToolTip.hideText()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._tell()

    def _tell(self) -> None:
        QToolTip.showText(self.mapToGlobal(QPoint(0, self.height())), self._basis, self)
