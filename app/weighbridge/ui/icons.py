"""The outline icons, tinted when they are drawn.

Each SVG draws with `currentColor`; the colour of a role replaces it. Pixmaps are drawn at one, two and three times
the size, so that they are sharp at each scale.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from weighbridge_resources import path

SIZE = 16
_RATIOS = (1.0, 2.0, 3.0)


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return path(f"icons/{name}.svg").read_text("utf-8")


def tinted(name: str, colour: str) -> str:
    """The SVG of the icon `name` in `colour`."""
    return _source(name).replace("currentColor", colour)


@lru_cache(maxsize=512)
def pixmap(name: str, colour: str, size: int = SIZE, ratio: float = 1.0) -> QPixmap:
    """The icon `name` in `colour` ("#rrggbb"), `size` pixels wide and high, for a screen of that device pixel ratio."""
    drawn = QPixmap(round(size * ratio), round(size * ratio))
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    QSvgRenderer(QByteArray(tinted(name, colour).encode())).render(painter)
    painter.end()
    drawn.setDevicePixelRatio(ratio)
    return drawn


def icon(name: str, colour: str, checked_colour: str | None = None, size: int = SIZE) -> QIcon:
    """The icon `name` in `colour`, and in `checked_colour` where its button is checked."""
    made = QIcon()
    for ratio in _RATIOS:
        made.addPixmap(pixmap(name, colour, size, ratio))
        if checked_colour is not None:
            made.addPixmap(pixmap(name, checked_colour, size, ratio), QIcon.Mode.Normal, QIcon.State.On)
    return made
