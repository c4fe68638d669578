"""One figure over the last minute: its bands stacked, the newest at the right."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from weighbridge.ui.memory_parts import Memory, Part
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.tracks import SPAN_S, Band, Track
from weighbridge.ui.widgets.elided import ElidedLabel
from weighbridge.ui.widgets.legend import Legend
from weighbridge.ui.widgets.parts import column, label, row

_HIGH_EMS = 4.5
_FAINT = 0.2
"""Below a line; shares of a whole are filled."""
_Moment = tuple[float, Track]


class Graph(QWidget):
    """Shows what `add` was told in the last minute. Where nothing was known, or nobody looked, there is a gap."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = ElidedLabel()
        self._title.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._figure = label("", "figure")
        self._canvas = _Canvas(theme)
        self._legend = Legend(theme)
        head = row(self._title, self._figure)
        head.setStretch(0, 1)
        column(head, self._canvas, self._legend, None, owner=self, gap=1)

    @property
    def figure(self) -> str:
        """The figure shown."""
        return self._figure.text()

    def add(self, track: Track, at_s: float) -> None:
        """The figure at `at_s`, of a clock that only goes forward."""
        self._title.setText(track.title)
        self._figure.setText(track.figure)
        self._name_owners(track)
        self.setAccessibleName(f"{track.title} {track.figure}")
        self._canvas.add(track, at_s)

    def _name_owners(self, track: Track) -> None:
        """Below a memory that several share."""
        self._legend.setVisible(len(track.bands) > 1)
        if len(track.bands) > 1:
            parts = tuple(Part(band.colour, round(band.value), named=band.word) for band in track.bands)
            self._legend.show_memory(Memory(track.title, round(track.top), parts))


class _Canvas(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._moments: deque[_Moment] = deque()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def add(self, track: Track, at_s: float) -> None:
        """Keep a moment, and let go of those before the last minute."""
        self._moments.append((at_s, track))
        while self._moments[0][0] < at_s - SPAN_S:
            self._moments.popleft()
        self.update()

    def sizeHint(self) -> QSize:
        em = self.fontMetrics().height()
        return QSize(em * 12, round(em * _HIGH_EMS))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = self._theme.tokens
        painter.fillRect(self.rect(), QColor(tokens.track))
        for pair in zip(self._moments, list(self._moments)[1:], strict=False):
            self._paint_step(painter, *pair)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens.line), 1))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_step(self, painter: QPainter, before: _Moment, after: _Moment) -> None:
        """From one moment to the next, which is at most a few seconds later, each band on the ones below."""
        if after[0] - before[0] > SPAN_S / 6:
            return
        low_left = low_right = 0.0
        old = {band.key: band for band in before[1].bands}
        for band in after[1].bands:
            if band.key not in old:
                continue
            high_left, high_right = low_left + old[band.key].value, low_right + band.value
            corners = (
                self._point(before, low_left),
                self._point(before, high_left),
                self._point(after, high_right),
                self._point(after, low_right),
            )
            self._paint_band(painter, band, corners)
            low_left, low_right = high_left, high_right

    def _paint_band(self, painter: QPainter, band: Band, corners: tuple[QPointF, ...]) -> None:
        colour = QColor(getattr(self._theme.tokens, band.colour))
        faint = QColor(colour)
        faint.setAlphaF(1.0 if band.word else _FAINT)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)  # or seams show between the steps
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(faint)
        painter.drawPolygon(QPolygonF(corners))
        if not band.word:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(colour, 1.5))
            painter.drawLine(corners[1], corners[2])

    def _point(self, moment: _Moment, value: float) -> QPointF:
        newest = self._moments[-1][0]
        x = self.width() * (1 - (newest - moment[0]) / SPAN_S)
        share = min(1.0, value / moment[1].top) if moment[1].top else 0.0
        return QPointF(x, self.height() - share * (self.height() - STEP / 2))
