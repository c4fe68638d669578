"""The live graphs of the page Machine, two beside each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from weighbridge.base.words import text
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.tracks import Track
from weighbridge.ui.widgets.graph import Graph
from weighbridge.ui.widgets.parts import column, label

_COLUMNS = 2


class LivePanel(QFrame):
    """One graph a track, made when the track is first told, and gone with it."""

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._theme = theme
        self._clock = clock
        self._graphs: dict[str, Graph] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(6 * STEP)
        self._grid.setVerticalSpacing(4 * STEP)
        for place in range(_COLUMNS):
            self._grid.setColumnStretch(place, 1)
        column(label(text("The last minute"), "heading"), self._grid, owner=self, margin=4)

    @property
    def graphs(self) -> dict[str, Graph]:
        """The graphs by the key of their track."""
        return dict(self._graphs)

    def add(self, tracks: Sequence[Track]) -> None:
        """What is so now."""
        self._arrange([track.key for track in tracks])
        now_s = self._clock()
        for track in tracks:
            self._graphs[track.key].add(track, now_s)

    def _arrange(self, keys: list[str]) -> None:
        if keys == list(self._graphs):
            return
        for key in set(self._graphs) - set(keys):
            gone = self._graphs.pop(key)
            gone.hide()
            gone.deleteLater()
        self._graphs = {key: self._graphs.get(key) or Graph(self._theme) for key in keys}
        for place, made in enumerate(self._graphs.values()):
            self._grid.addWidget(made, place // _COLUMNS, place % _COLUMNS)
