"""The bar that is always there: each memory, the loaded model with its speed, the port."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSpacerItem, QWidget

from weighbridge.base.units import GIB, THIN, number, speed
from weighbridge.base.words import text
from weighbridge.ui.icons import icon
from weighbridge.ui.memory_parts import Memory
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.memory_bar import MemoryBar
from weighbridge.ui.widgets.parts import label, row

_MAKERS = ("NVIDIA GeForce ", "NVIDIA ", "AMD Radeon ", "AMD ", "Intel ")


class TopBar(QFrame):
    """Shows what it is told. `model_clicked` and `port_clicked` tell what the user pressed."""

    model_clicked = Signal()
    port_clicked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self._theme = theme
        self._port_open = False
        self._model_words = text("No model loaded")
        self._name = label("Weighbridge", "heading")
        self._left = 0
        self._lead = QSpacerItem(0, 0)
        self._meters: list[_Meter] = []
        self._meter_row = row(gap=5)
        self._model = self._flat(self.model_clicked.emit)
        self._tps = label("", "figure")
        self._tps.setAccessibleName(text("Speed now"))
        self._port = self._flat(self.port_clicked.emit)
        right = row(self._model, self._tps, gap=1)
        self._row = row(self._name, self._meter_row, None, right, self._port, owner=self, gap=4)
        self._row.insertSpacerItem(1, self._lead)
        self._row.setContentsMargins(4 * STEP, 2 * STEP, 3 * STEP, 2 * STEP)
        theme.changed.connect(self._tint)
        self.show_model(None, None)
        self.show_port(None)

    def begin_at(self, left: int) -> None:
        """Where the meters begin, in pixels from the left: above the pages."""
        self._left = left
        self._make_room()

    def show_memories(self, memories: Sequence[Memory]) -> None:
        """One meter a memory, cards before the system's: where there is no room for all, those are shown in which a
        model runs fastest.
        """
        memories = sorted(memories, key=lambda memory: not memory.of_card)
        while len(self._meters) < len(memories):
            self._meters.append(_Meter(self._theme))
            self._meter_row.addWidget(self._meters[-1])
        while len(self._meters) > len(memories):
            self._meters.pop().deleteLater()
        for meter, memory in zip(self._meters, memories, strict=True):
            meter.show_memory(memory)
        self._make_room()

    def show_model(
        self, title: str | None, tps: float | None, note: str = "", about: str = "", *, counted: bool = False
    ) -> None:
        """The loaded model, how fast it writes now, and a word on its state ("loading"). `about` is a sentence on it
        for whoever points at it. `counted`: the speed was counted here, out of pieces of text.
        """
        self._model_words = " · ".join(part for part in (title or text("No model loaded"), note) if part)
        switch = text("{model}. Switch with Ctrl+L.", model=self._model_words)
        self._model.setToolTip("\n".join(filter(None, (switch, about))))
        self._model.setAccessibleDescription(about)
        self._model.setAccessibleName(text("Model: {model}", model=self._model_words))
        mark = "~" if counted else ""
        self._tps.setText("" if tps is None else f"{mark}{speed(tps)}")
        self._tps.setVisible(tps is not None)
        self._make_room()

    def show_port(self, address: str | None) -> None:
        """The port's address ("127.0.0.1:2412"), or None where it is closed."""
        self._port_open = address is not None
        self._port.setText(address or text("Port off"))
        what = text("Port open at {address}. Click to copy.", address=address) if address else text("The port is off.")
        self._port.setToolTip(what)
        self._port.setAccessibleName(what)
        self._tint()
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _flat(self, act: object) -> QPushButton:
        made = QPushButton()
        made.setProperty("role", "quiet")
        made.setAutoDefault(False)
        made.clicked.connect(act)
        return made

    def _make_room(self) -> None:
        """Give up, in this order, what does not fit: the program's name, the model's full name, meters from the
        last.
        """
        wanted = [meter.sizeHint().width() + 5 * STEP for meter in self._meters]
        for longest_ems in (18, 12, 7):
            self._elide_model(longest_ems)
            room = self._room()
            if not wanted or wanted[0] <= room:
                break
        margin, name = 4 * STEP, self._name.sizeHint().width()
        lead = max(0, self._left - name - 2 * margin)
        self._name.setVisible(sum(wanted) + name + lead <= room)
        if self._name.isHidden():
            lead = self._left - margin if sum(wanted) + self._left <= room else 0
        self._lead.changeSize(max(0, lead), 0)
        self._row.invalidate()
        for place, meter in enumerate(self._meters):
            meter.setVisible(sum(wanted[: place + 1]) <= room)

    def _elide_model(self, longest_ems: int) -> None:
        metrics = self.fontMetrics()
        longest = metrics.height() * longest_ems
        self._model.setText(metrics.elidedText(self._model_words, Qt.TextElideMode.ElideMiddle, longest))

    def _room(self) -> int:
        """What the model, its speed and the port leave to the meters."""
        taken = [self._model.sizeHint().width(), self._port.sizeHint().width(), 14 * STEP]
        taken.append(0 if self._tps.isHidden() else self._tps.sizeHint().width())
        return self.width() - sum(taken)

    def _tint(self) -> None:
        tokens = self._theme.tokens
        name, colour = ("dot", tokens.fits) if self._port_open else ("ring", tokens.dim)
        self._port.setIcon(icon(name, colour))
        self._model.setIcon(icon("down", tokens.dim))
        self._model.setLayoutDirection(Qt.LayoutDirection.RightToLeft)


def _short(name: str) -> str:
    """A card's name without its maker's: "RTX 3090" for "NVIDIA GeForce RTX 3090". Pointed at, the bar tells all."""
    return next((name.removeprefix(maker) for maker in _MAKERS if name.startswith(maker)), name)


class _Meter(QWidget):
    """A memory's name, bar and figures."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._name = label("", "dim")
        self._bar = MemoryBar(theme)
        self._used = label("", "figure")
        self._of = label("", "dim")
        row(self._name, self._bar, self._used, self._of, owner=self, gap=1)

    def show_memory(self, memory: Memory) -> None:
        self._bar.show_memory(memory)
        self._name.setText(_short(memory.name))
        self._used.setText(number(memory.used_bytes / GIB, 1))
        total = f"{number(memory.total_bytes / GIB, 1)}{THIN}GiB"
        self._of.setText(text("of {total}", total=total))
