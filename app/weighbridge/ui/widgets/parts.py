"""The plainest pieces: labels by role, panels, rows, buttons. They make pages short and alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QFont, QFontDatabase
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from weighbridge.ui.theme import STEP


def label(shown: str, role: str = "", wrap: bool = False) -> QLabel:
    """A text in a role of the style sheet: "title", "heading", "dim", "figure", "bad" or none."""
    made = QLabel(shown)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if role == "title":
        made.setMinimumHeight(made.fontMetrics().height() + 14)  # as a button's, so that it stands alike on all pages
        made.setFont(scaled(made.font(), 1.25))
    return made


def selectable(made: QLabel) -> QLabel:
    """`made`, its text selectable by mouse and keyboard."""
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    made.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    return made


def button(shown: str, act: Callable[[], object], role: str = "", name: str = "") -> QPushButton:
    """A button that calls `act`; `name` is its accessible name where the text does not say enough."""
    made = QPushButton(shown)
    made.setAutoDefault(False)
    if role:
        made.setProperty("role", role)
    made.setAccessibleName(name or shown)
    made.clicked.connect(lambda _checked: act())
    return made


def action(owner: QWidget, shown: str, act: Callable[[], object], keys: str = "", enabled: bool = True) -> QAction:
    """An action of `owner`, found in the palette of `Ctrl+K`; `keys` work while the focus is inside the owner."""
    made = QAction(shown, owner)
    made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    if keys:
        made.setShortcut(keys)
    made.setEnabled(enabled)
    made.triggered.connect(lambda _checked: act())
    owner.addAction(made)
    return made


def panel(*items: QWidget | QLayout | None, margin: int = 3) -> QFrame:
    """A bordered surface with `items` below each other."""
    made = QFrame()
    made.setProperty("role", "panel")
    column(*items, owner=made, margin=margin)
    return made


def column(
    *items: QWidget | QLayout | None, owner: QWidget | None = None, margin: int = 0, gap: int = 2
) -> QVBoxLayout:
    """`items` below each other; margins and gaps in steps. None takes the free room."""
    made = QVBoxLayout(owner) if owner is not None else QVBoxLayout()
    _fill(made, items, margin, gap)
    return made


def row(*items: QWidget | QLayout | None, owner: QWidget | None = None, margin: int = 0, gap: int = 2) -> QHBoxLayout:
    """`items` beside each other; None takes the free room."""
    made = QHBoxLayout(owner) if owner is not None else QHBoxLayout()
    _fill(made, items, margin, gap)
    return made


def give_role(widget: QWidget, role: str) -> None:
    """Change the role of a widget that is shown already."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def clear(layout: QLayout) -> None:
    """Take all items out of `layout` and drop their widgets."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear(inner)


def scaled(font: QFont, factor: float) -> QFont:
    """`font`, larger or smaller, whether it is measured in points or pixels."""
    made = QFont(font)
    if font.pointSizeF() > 0:
        made.setPointSizeF(font.pointSizeF() * factor)
    else:
        made.setPixelSize(round(font.pixelSize() * factor))
    return made


def fixed_font() -> QFont:
    """The system's font with letters of one width, as large as the program's."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    size = QApplication.font().pointSizeF()
    if size > 0:
        made.setPointSizeF(size)
    return made


def fill(made: QComboBox, items: Iterable[str]) -> None:
    """Replace what there is to choose from, and tell nobody; the first is chosen."""
    blocked = made.blockSignals(True)
    made.clear()
    made.addItems(list(items))
    made.blockSignals(blocked)


def give_way(made: QComboBox, letters: int) -> None:
    """As wide as there is room, and at least as wide as so many letters, whatever there is to choose from."""
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(letters)


def _fill(made: QBoxLayout, items: tuple[QWidget | QLayout | None, ...], margin: int, gap: int) -> None:
    made.setContentsMargins(margin * STEP, margin * STEP, margin * STEP, margin * STEP)
    made.setSpacing(gap * STEP)
    for item in items:
        if item is None:
            made.addStretch(1)
        elif isinstance(item, QWidget):
            made.addWidget(item)
        else:
            made.addLayout(item)
