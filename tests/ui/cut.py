"""What does not have the room that it needs: texts that are cut off, and parts that lie on each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLayout,
    QLineEdit,
    QWidget,
)

from weighbridge.ui.widgets.badge import Badge
from weighbridge.ui.widgets.elided import ElidedLabel


def cut(root: QWidget) -> list[str]:
    """A line for each fault in `root`, as it stands. What is elided on purpose, or scrolled out of sight, is none."""
    parts = [part for part in root.findChildren(QWidget) if part.isVisible()]
    return [*filter(None, map(_cut_text, parts)), *(line for part in [root, *parts] for line in _misplaced(part))]


def _cut_text(part: QWidget) -> str:
    wanted, there = _rooms(part)
    return f"{_told(part)}: {there} of {wanted}" if there < wanted else ""


def _rooms(part: QWidget) -> tuple[int, int]:
    """How much room its text wants, and how much there is, in pixels."""
    wanted, there, metrics = 0, part.width(), part.fontMetrics()
    match part:
        case ElidedLabel() | Badge():
            wanted = part.minimumSizeHint().width()
        case QLabel() if part.wordWrap():
            wanted, there = part.heightForWidth(part.width()), part.height()
        case QLabel() | QAbstractButton() if part.text():
            wanted = part.sizeHint().width()
        case QComboBox() if not part.isEditable():
            wanted = metrics.horizontalAdvance(part.currentText()) + 2 * metrics.height()
        case QLineEdit() if isinstance(part.parent(), QAbstractSpinBox):
            wanted = metrics.horizontalAdvance(part.text())
    return wanted, there


def _misplaced(owner: QWidget) -> Iterator[str]:
    """Parts placed by the layout of `owner` that lie on each other, or stand out of it."""
    laid_out = owner.layout()
    if laid_out is None or isinstance(owner, QAbstractScrollArea | QAbstractSpinBox | QComboBox | QLineEdit):
        return
    inside = [part for part in _placed(laid_out) if part.isVisible()]
    for one, other in combinations(inside, 2):
        shared = one.geometry().intersected(other.geometry())
        if shared.width() > 1 and shared.height() > 1:
            yield f"{_told(one)} and {_told(other)} share {shared.width()} x {shared.height()}"
    for part in inside:
        if not owner.rect().adjusted(-1, -1, 1, 1).contains(part.geometry()):
            yield f"{_told(part)} stands out of {type(owner).__name__}"


def _placed(laid_out: QLayout) -> Iterator[QWidget]:
    items = [laid_out.itemAt(place) for place in range(laid_out.count())]
    for item in items:
        if item is not None and item.widget() is not None:
            yield item.widget()
        elif item is not None and item.layout() is not None:
            yield from _placed(item.layout())


def _told(part: QWidget) -> str:
    said = part.currentText() if isinstance(part, QComboBox) else getattr(part, "text", part.accessibleName)()
    return f"{type(part).__name__} {said!r}"
