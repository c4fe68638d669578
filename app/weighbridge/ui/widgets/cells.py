"""How cells of tables are painted: badges, chips, and a memory beside its figure."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from weighbridge.ui.icons import pixmap
from weighbridge.ui.memory_parts import Memory
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.badge import badge_size, paint_badge
from weighbridge.ui.widgets.memory_bar import paint_memory

BADGE_ROLE = Qt.ItemDataRole.UserRole + 1
"""(kind, text): the cell shows a badge."""
CHIP_ROLE = Qt.ItemDataRole.UserRole + 2
"""True: the cell's text stands in an outline."""
BAR_ROLE = Qt.ItemDataRole.UserRole + 3
"""A Memory: a bar at the left of the cell's text."""
BUTTON_ROLE = Qt.ItemDataRole.UserRole + 4
"""True: the cell's text stands on a button."""
MARK_ROLE = Qt.ItemDataRole.UserRole + 5
"""(icon, word): both stand after the cell's text, in the accent's colour."""
CELL_ROLE = Qt.ItemDataRole.UserRole + 6
"""A Cell: all of that at once. It is the questions that cost: a model that answers this one is asked no other."""

_INSET = 11
"""Where texts begin: the padding of the style sheet and the margin that Qt adds."""

_FOCUS_WIDTH = 3

_ITEM, _SIZE = QStyle.ControlElement.CE_ItemViewItem, QStyle.ContentsType.CT_ItemViewItem
_TEXT = QStyleOptionViewItem.ViewItemFeature.HasDisplay
_Index = QModelIndex | QPersistentModelIndex


def paint_focus(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """A bar at the left end of the chosen row, where the keyboard is on its view."""
    view = option.widget
    if option.state & QStyle.StateFlag.State_Selected and isinstance(view, QWidget) and view.hasFocus():
        row = option.rect
        painter.fillRect(0, row.top(), _FOCUS_WIDTH, row.height() - 1, QColor(theme.tokens.accent))


class Cell(NamedTuple):
    """What stands in a cell. `glyph` is an icon in place of that of the badge's kind."""

    shown: str
    aligned: Qt.AlignmentFlag
    strong: bool = False
    badge: tuple[str, str] | None = None
    glyph: str = ""
    chip: bool = False
    button: bool = False
    mark: tuple[str, str] | None = None
    memory: Memory | None = None


class CellDelegate(QStyledItemDelegate):
    """Paints the cells of a table by their roles; other cells as Qt does. Bars are left out unless `with_bars`."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.with_bars = True

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        filled, cell = self._filled(option, index)
        metrics, em = option.fontMetrics, option.fontMetrics.height()
        if cell.badge is not None:
            wide = badge_size(metrics, cell.badge[1]).width() + 2 * _INSET
        elif cell.chip or cell.button:
            wide = metrics.horizontalAdvance(cell.shown) + 3 * STEP + 2 * _INSET
        else:
            wide = _style(filled).sizeFromContents(_SIZE, filled, QSize(), filled.widget).width()
            if cell.mark is not None:
                wide += metrics.horizontalAdvance(cell.mark[1]) + em + 4 * STEP
            elif self.with_bars and cell.memory is not None:
                wide += em * 6
        return QSize(wide, em + 5 * STEP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        filled, cell = self._filled(option, index)
        _style(filled).drawControl(_ITEM, filled, painter, filled.widget)
        if index.column() == 0:
            paint_focus(painter, option, self._theme)
        place = QRectF(option.rect).adjusted(_INSET, 0, -_INSET, -1)
        if cell.badge is not None:
            self._paint_badge(painter, option, place, cell.badge, cell.glyph)
        elif cell.chip:
            self._paint_chip(painter, option, place, cell.shown)
        elif cell.button:
            self._paint_button(painter, option, place, cell.shown)
        elif cell.mark is not None:
            self._paint_mark(painter, filled, place, cell.shown, cell.mark)
        elif self.with_bars and cell.memory is not None:
            bar = QRectF(place.left(), place.center().y() - 3.5, option.fontMetrics.height() * 5, 7)
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_memory(painter, bar, cell.memory, self._theme.tokens, with_limit=False)
            painter.restore()

    def _filled(self, option: QStyleOptionViewItem, index: _Index) -> tuple[QStyleOptionViewItem, Cell]:
        """What the style is to paint, which is not the text where something of ours shows it; and what we do."""
        filled, cell = QStyleOptionViewItem(option), index.data(CELL_ROLE)
        if isinstance(cell, Cell):
            _fill(filled, cell)
        else:
            self.initStyleOption(filled, index)
            cell = _asked(filled, index)
        if cell.badge is not None or cell.chip or cell.button:
            filled.text = ""
        return filled, cell

    def _paint_badge(
        self, painter: QPainter, option: QStyleOptionViewItem, cell: QRectF, badge: tuple[str, str], glyph: str
    ) -> None:
        kind, shown = badge
        wanted = badge_size(option.fontMetrics, shown)
        wide = min(float(wanted.width()), cell.width())
        place = QRectF(cell.left(), cell.center().y() - wanted.height() / 2, wide, wanted.height())
        ratio = painter.device().devicePixelRatioF()
        paint_badge(painter, place, kind, shown, self._theme.tokens, ratio, glyph)

    def _paint_chip(self, painter: QPainter, option: QStyleOptionViewItem, cell: QRectF, shown: str) -> None:
        metrics = option.fontMetrics
        wide = min(metrics.horizontalAdvance(shown) + 3.0 * STEP, cell.width())
        tall = metrics.height() + 3.0
        place = QRectF(cell.left(), round(cell.center().y() - tall / 2) - 0.5, wide, tall)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.tokens.line), 1))
        painter.drawRoundedRect(place, 4, 4)
        painter.setPen(QColor(self._theme.tokens.dim))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)
        painter.restore()

    def _paint_button(self, painter: QPainter, option: QStyleOptionViewItem, cell: QRectF, shown: str) -> None:
        tokens, metrics = self._theme.tokens, option.fontMetrics
        tall = metrics.height() + 2.0 * STEP
        place = QRectF(cell.left(), round(cell.center().y() - tall / 2) - 0.5, cell.width(), tall)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens.line), 1))
        painter.setBrush(QColor(tokens.panel))
        painter.drawRoundedRect(place, 6, 6)
        painter.setPen(QColor(tokens.text))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)
        painter.restore()

    def _paint_mark(
        self, painter: QPainter, option: QStyleOptionViewItem, cell: QRectF, shown: str, mark: tuple[str, str]
    ) -> None:
        """Behind the text, which Qt has drawn; left out where there is no room for the glyph."""
        glyph, word = mark
        side = round(option.fontMetrics.height() * 0.9)
        place = cell.adjusted(QFontMetrics(option.font).horizontalAdvance(shown) + 2 * STEP, 0, 0, 0)
        if place.width() < side:
            return
        colour = self._theme.tokens.accent
        drawn = pixmap(glyph, colour, side, painter.device().devicePixelRatioF())
        painter.save()
        painter.drawPixmap(round(place.left()), round(place.center().y() - side / 2), drawn)
        painter.setPen(QColor(colour))
        place.adjust(side + STEP, 0, 0, 0)
        if place.width() >= option.fontMetrics.horizontalAdvance(word):
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, word)
        painter.restore()


def _fill(option: QStyleOptionViewItem, cell: Cell) -> None:
    """As Qt does it out of roles."""
    option.text = cell.shown
    option.features = _TEXT
    option.displayAlignment = cell.aligned
    if cell.strong:
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        option.font, option.fontMetrics = font, QFontMetrics(font)


def _asked(option: QStyleOptionViewItem, index: _Index) -> Cell:
    """A cell of a model that answers role by role, by an option that Qt has filled."""
    memory = index.data(BAR_ROLE)
    return Cell(
        shown=option.text,
        aligned=option.displayAlignment,
        badge=index.data(BADGE_ROLE),
        chip=bool(index.data(CHIP_ROLE)),
        button=bool(index.data(BUTTON_ROLE)),
        mark=index.data(MARK_ROLE),
        memory=memory if isinstance(memory, Memory) else None,
    )


def _style(option: QStyleOptionViewItem) -> QStyle:
    return option.widget.style() if option.widget is not None else QApplication.style()
