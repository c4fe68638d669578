"""The outline icons, tinted when they are drawn.

Each SVG draws with `currentColor`; the colour of a role replaces it. Pixmaps are drawn for each screen that is there,
so that they are sharp on all; where another comes, the theme has them drawn anew.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QBuffer, QByteArray, QSize
from PySide6.QtGui import QFontMetrics, QGuiApplication, QIcon, QImageReader, QPixmap

from weighbridge.ui.style_sheet import GLYPH_EMS
from weighbridge_resources import path


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return path(f"icons/{name}.svg").read_text("utf-8")


def tinted(name: str, colour: str) -> str:
    """The SVG of the icon `name` in `colour`."""
    return _source(name).replace("currentColor", colour)


@lru_cache(maxsize=512)
def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """The icon `name` in `colour` ("#rrggbb"), `size` pixels wide and high, for a screen of that device pixel ratio."""
    source = QBuffer()
    source.setData(tinted(name, colour).encode())
    reader = QImageReader(source, QByteArray(b"svg"))
    reader.setScaledSize(QSize(round(size * ratio), round(size * ratio)))
    drawn = QPixmap.fromImage(reader.read())
    drawn.setDevicePixelRatio(ratio)
    return drawn


def icon(name: str, colour: str, checked_colour: str | None = None, size: int | None = None) -> QIcon:
    """The icon `name` in `colour`, and in `checked_colour` where its button is checked. Without a `size` it is as large
    as the style sheet shows it beside text.
    """
    if size is None:
        size = round(QFontMetrics(QGuiApplication.font()).height() * GLYPH_EMS)
    made = QIcon()
    for ratio in {screen.devicePixelRatio() for screen in QGuiApplication.screens()}:
        made.addPixmap(pixmap(name, colour, size, ratio))
        if checked_colour is not None:
            made.addPixmap(pixmap(name, checked_colour, size, ratio), QIcon.Mode.Normal, QIcon.State.On)
    return made
