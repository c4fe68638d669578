"""How cells of tables are painted: badges, chips, and a memory beside its figure."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

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

_INSET = 11
"""Where texts begin: the padding of the style sheet and the margin that Qt adds."""

_Index = QModelIndex | QPersistentModelIndex


class CellDelegate(QStyledItemDelegate):
    """Paints the cells of a table by their roles; other cells as Qt does. Bars are left out unless `with_bars`."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.with_bars = True

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        hint = super().sizeHint(option, index)
        em = option.fontMetrics.height()
        badge = index.data(BADGE_ROLE)
        if badge is not None:
            hint.setWidth(badge_size(option.fontMetrics, badge[1]).width() + 2 * _INSET)
        elif index.data(CHIP_ROLE) or index.data(BUTTON_ROLE):
            hint.setWidth(option.fontMetrics.horizontalAdvance(str(index.data())) + 3 * STEP + 2 * _INSET)
        elif (mark := index.data(MARK_ROLE)) is not None:
            hint.setWidth(hint.width() + option.fontMetrics.horizontalAdvance(mark[1]) + em + 4 * STEP)
        elif self.with_bars and index.data(BAR_ROLE) is not None:
            hint.setWidth(hint.width() + em * 6)
        return QSize(hint.width(), em + 5 * STEP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        badge, chip, memory = index.data(BADGE_ROLE), index.data(CHIP_ROLE), index.data(BAR_ROLE)
        super().paint(painter, option, index)
        cell = QRectF(option.rect).adjusted(_INSET, 0, -_INSET, -1)
        if badge is not None:
            self._paint_badge(painter, option, cell, badge)
        elif chip:
            self._paint_chip(painter, option, cell, str(index.data()))
        elif index.data(BUTTON_ROLE):
            self._paint_button(painter, option, cell, str(index.data()))
        elif (mark := index.data(MARK_ROLE)) is not None:
            self._paint_mark(painter, option, cell, str(index.data()), mark)
        elif self.with_bars and isinstance(memory, Memory):
            bar = QRectF(cell.left(), cell.center().y() - 3.5, option.fontMetrics.height() * 5, 7)
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_memory(painter, bar, memory, self._theme.tokens, with_limit=False)
            painter.restore()

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        super().initStyleOption(option, index)
        if index.data(BADGE_ROLE) is not None or index.data(CHIP_ROLE) or index.data(BUTTON_ROLE):
            option.text = ""

    def _paint_badge(
        self, painter: QPainter, option: QStyleOptionViewItem, cell: QRectF, badge: tuple[str, str]
    ) -> None:
        kind, shown = badge
        wanted = badge_size(option.fontMetrics, shown)
        wide = min(float(wanted.width()), cell.width())
        place = QRectF(cell.left(), cell.center().y() - wanted.height() / 2, wide, wanted.height())
        ratio = painter.device().devicePixelRatioF()
        paint_badge(painter, place, kind, shown, self._theme.tokens, ratio)

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
