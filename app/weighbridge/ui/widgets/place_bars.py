"""One memory bar with its legend for each place that a model would lie in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from weighbridge.base.units import size
from weighbridge.base.words import text
from weighbridge.ui.memory_parts import Memory
from weighbridge.ui.theme import Theme
from weighbridge.ui.widgets.legend import Legend
from weighbridge.ui.widgets.memory_bar import MemoryBar
from weighbridge.ui.widgets.parts import column, label


class PlaceBars(QWidget):
    """Bars are made as they are needed and kept; places are named where there is more than one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._layout: QVBoxLayout = column(owner=self, gap=2)
        self._sets: list[_Set] = []

    @property
    def bars(self) -> list[MemoryBar]:
        """The bars that are shown."""
        return [each.bar for each in self._sets if not each.bar.isHidden()]

    def show_memories(self, memories: Sequence[Memory]) -> None:
        """Show one bar for each."""
        while len(self._sets) < len(memories):
            made = _Set(self._theme)
            self._sets.append(made)
            for widget in (made.name, made.bar, made.legend):
                self._layout.addWidget(widget)
        for place, each in enumerate(self._sets):
            each.show_memory(memories[place] if place < len(memories) else None, named=len(memories) > 1)


class _Set:
    """The widgets of one place."""

    def __init__(self, theme: Theme) -> None:
        self.name = label("", "dim")
        self.bar = MemoryBar(theme, thick=True)
        self.legend = Legend(theme)

    def show_memory(self, memory: Memory | None, *, named: bool) -> None:
        self.name.setVisible(memory is not None and named)
        for widget in (self.bar, self.legend):
            widget.setVisible(memory is not None)
        if memory is not None:
            self.name.setText(text("{place}: {size}", place=memory.name, size=size(memory.total_bytes)))
            self.bar.show_memory(memory)
            self.legend.show_memory(memory)
