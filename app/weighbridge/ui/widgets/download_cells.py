"""How the rows of downloads are painted: a name over what there is to say of it, a badge, figures over their bar."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from weighbridge.ui.download_words import StateBadge
from weighbridge.ui.models.downloads_model import AMOUNT, DETAIL_ROLE, FRACTION_ROLE, NAME, STATE_ROLE
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.badge import badge_size, paint_badge
from weighbridge.ui.widgets.cells import paint_focus

_INSET = 8
_BAR_HEIGHT = 6
_Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class DownloadDelegate(QStyledItemDelegate):
    """Rows of jobs are two lines high, rows of files one."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        em = option.fontMetrics.height()
        is_job = not index.parent().isValid()
        return QSize(super().sizeHint(option, index).width(), 2 * em + 5 * STEP if is_job else em + 3 * STEP)

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        super().initStyleOption(option, index)
        if index.column() in (NAME, AMOUNT) or index.data(STATE_ROLE) is not None:
            option.text = ""
        elif index.parent().isValid():
            option.palette.setColor(option.palette.ColorRole.Text, QColor(self._theme.tokens.dim))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        super().paint(painter, option, index)
        if index.column() == 0:
            paint_focus(painter, option, self._theme)
        cell = option.rect.adjusted(_INSET, 0, -_INSET, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(option.font)
        badge = index.data(STATE_ROLE)
        if isinstance(badge, StateBadge):
            self._paint_state(painter, option, cell, badge)
        elif index.column() == NAME:
            self._paint_name(painter, option, cell, index)
        elif index.column() == AMOUNT:
            self._paint_amount(painter, option, cell, index)
        painter.restore()

    def _paint_name(self, painter: QPainter, option: QStyleOptionViewItem, cell: QRect, index: _Index) -> None:
        detail = str(index.data(DETAIL_ROLE) or "")
        is_job = not index.parent().isValid()
        line = option.fontMetrics.height()
        upper = QRect(cell.left(), cell.center().y() - line - 1, cell.width(), line) if detail else cell
        painter.setPen(QColor(self._theme.tokens.text if is_job else self._theme.tokens.dim))
        painter.setFont(_bold(option.font) if is_job else option.font)
        _write(painter, upper, str(index.data()), Qt.TextElideMode.ElideMiddle)
        if detail:
            painter.setPen(QColor(self._theme.tokens.dim))
            painter.setFont(option.font)
            below = QRect(cell.left(), upper.bottom() + 3, cell.width(), line)
            _write(painter, below, detail, Qt.TextElideMode.ElideRight)

    def _paint_state(self, painter: QPainter, option: QStyleOptionViewItem, cell: QRect, badge: StateBadge) -> None:
        wanted = badge_size(option.fontMetrics, badge.words)
        wide = min(wanted.width(), cell.width())
        place = QRectF(cell.left(), cell.center().y() - wanted.height() / 2, wide, wanted.height())
        ratio = painter.device().devicePixelRatioF()
        paint_badge(painter, place, badge.kind, badge.words, self._theme.tokens, ratio, badge.glyph)

    def _paint_amount(self, painter: QPainter, option: QStyleOptionViewItem, cell: QRect, index: _Index) -> None:
        """The figures, and below them the bar, where there is one."""
        fraction = index.data(FRACTION_ROLE)
        if isinstance(fraction, float):
            line = option.fontMetrics.height()
            bar = QRectF(cell.left(), cell.center().y() + STEP, cell.width(), _BAR_HEIGHT)
            self._paint_bar(painter, bar, fraction)
            cell = QRect(cell.left(), cell.center().y() - line, cell.width(), line)
        is_job = not index.parent().isValid()
        painter.setPen(QColor(self._theme.tokens.text if is_job else self._theme.tokens.dim))
        _write(painter, cell, str(index.data()), Qt.TextElideMode.ElideRight)

    def _paint_bar(self, painter: QPainter, place: QRectF, fraction: float) -> None:
        tokens = self._theme.tokens
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.track))
        painter.drawRoundedRect(place, 3, 3)
        if fraction > 0:
            painter.setBrush(QColor(tokens.accent))
            place.setWidth(max(_BAR_HEIGHT, place.width() * fraction))
            painter.drawRoundedRect(place, 3, 3)


def _write(painter: QPainter, place: QRect, words: str, cut: Qt.TextElideMode) -> None:
    painter.drawText(place, _LEFT, painter.fontMetrics().elidedText(words, cut, place.width()))


def _bold(font: QFont) -> QFont:
    made = QFont(font)
    made.setWeight(QFont.Weight.DemiBold)
    return made
