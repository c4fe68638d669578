"""A badge: glyph, word and figure on a surface of its colour. The colour never stands alone."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from weighbridge.ui.icons import pixmap
from weighbridge.ui.theme import Theme
from weighbridge.ui.tokens import Tokens

GLYPHS: Mapping[str, str] = {
    "fits": "check",
    "tight": "clock",
    "partial": "part",
    "no": "warning",
    "unknown": "question",
}
"""The kinds of badge, which are names of colours, and the glyph of each."""


def badge_size(metrics: QFontMetrics, shown: str) -> QSize:
    """The room that a badge with this text takes."""
    height = metrics.height() + 6
    return QSize(metrics.horizontalAdvance(shown) + metrics.height() + 20, height)


def paint_badge(
    painter: QPainter, rect: QRectF, kind: str, shown: str, tokens: Tokens, ratio: float, glyph: str = ""
) -> None:
    """Paint a badge of `kind` (of GLYPHS) saying `shown` in `rect`, on a screen of that device pixel ratio.

    `glyph` is an icon in place of the kind's own.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(getattr(tokens, f"{kind}_surface")))
    painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    side = round(painter.fontMetrics().height() * 0.85)
    colour = getattr(tokens, kind)
    drawn = pixmap(glyph or GLYPHS[kind], colour, side, ratio)
    painter.drawPixmap(round(rect.left()) + 8, round(rect.center().y() - side / 2), drawn)
    painter.setPen(QColor(colour))
    place = rect.adjusted(side + 12, 0, -8, 0)
    shown = painter.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideRight, round(place.width()))
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
    painter.restore()


class Badge(QWidget):
    """A badge as a widget."""

    def __init__(self, theme: Theme, kind: str, shown: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        theme.changed.connect(self.update)
        self.say(kind, shown)

    @property
    def painted(self) -> str:
        """The text that there is room for."""
        return self._shown if self.width() >= self.sizeHint().width() else self._least or self._shown

    def say(self, kind: str, shown: str, glyph: str = "", least: str = "") -> None:
        """Show another kind and text; `glyph` is an icon in place of the kind's own, `least` the text where there is no
        room for all.
        """
        self._kind, self._shown, self._glyph, self._least = kind, shown, glyph, least
        policy = QSizePolicy.Policy.Maximum if least else QSizePolicy.Policy.Fixed
        self.setSizePolicy(policy, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(shown)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return badge_size(self.fontMetrics(), self._shown)

    def minimumSizeHint(self) -> QSize:
        return badge_size(self.fontMetrics(), self._least or self._shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        rect, tokens, ratio = QRectF(self.rect()), self._theme.tokens, self.devicePixelRatioF()
        rect.setWidth(min(rect.width(), badge_size(self.fontMetrics(), self.painted).width()))
        paint_badge(painter, rect, self._kind, self.painted, tokens, ratio, self._glyph)
