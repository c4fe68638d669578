"""The machine: processor, memory and who has it, graphics cards, and what could not be found out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QWidget

from weighbridge.base.units import GIB, THIN, number
from weighbridge.base.words import text
from weighbridge.hardware.machine import Device, Machine
from weighbridge.ui.clipboard import copy
from weighbridge.ui.icons import icon
from weighbridge.ui.machine_words import Fact, device_facts, findings, report, system_facts
from weighbridge.ui.memory_parts import Memory
from weighbridge.ui.pages.page import Page
from weighbridge.ui.services import Services
from weighbridge.ui.theme import STEP, Theme
from weighbridge.ui.widgets.legend import Legend
from weighbridge.ui.widgets.memory_bar import MemoryBar
from weighbridge.ui.widgets.parts import action, button, clear, column, label, panel, row, selectable


class MachinePage(Page):
    """Shows what `services.memories` samples, while it is the page shown."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._watch = services.memories
        self._shown = False
        self._copy = button(text("Copy as text"), self.copy_report)
        self._looking = label(text("Looking at the machine…"), "dim")
        self._memory_panels: list[_MemoryPanel] = []
        self._memory_column = column(gap=3)
        self._facts = _Facts()
        self._cards = column(gap=3)
        self._devices: tuple[Device, ...] | None = None
        self._findings = column(gap=1)
        self._said: list[str] = []
        self._findings_panel = panel(label(text("Findings"), "heading"), self._findings, margin=4)
        self._lay_out()
        services.theme.dress(self)
        action(self, text("Copy the machine as text"), self.copy_report, "Ctrl+Shift+M")
        self._watch.changed.connect(self._show)
        services.theme.changed.connect(self._tint)
        self._tint()

    def entered(self) -> None:
        self._shown = True
        self._show()

    def left(self) -> None:
        self._shown = False

    def copy_report(self) -> None:
        """Put all of it on the clipboard."""
        if self._watch.machine is not None:
            copy(report(self._watch.machine, self._watch.memories), self._copy)

    def _lay_out(self) -> None:
        head = row(label(text("Machine"), "title"), None, self._copy)
        system = panel(label(text("Processor and memory"), "heading"), self._facts, margin=4)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        inner = column(
            self._looking, self._memory_column, system, self._cards, self._findings_panel, None, owner=scrolled, gap=3
        )
        inner.setContentsMargins(0, 0, 0, 0)
        area = QScrollArea(widgetResizable=True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(scrolled)
        area.setAccessibleName(text("Machine"))
        whole = column(head, area, owner=self, margin=4, gap=3)
        whole.setStretch(1, 1)

    def _show(self) -> None:
        machine = self._watch.machine
        if not self._shown:
            return
        self._looking.setVisible(machine is None)
        for widget in (self._facts.parentWidget(), self._findings_panel):
            if widget is not None:
                widget.setVisible(machine is not None)
        if machine is not None:
            self._show_memories(self._watch.memories)
            self._facts.show_facts(system_facts(machine))
            self._show_devices(machine.devices)
            self._show_findings(machine)

    def _show_memories(self, memories: Sequence[Memory]) -> None:
        while len(self._memory_panels) < len(memories):
            made = _MemoryPanel(self._services.theme)
            self._memory_panels.append(made)
            self._memory_column.addWidget(made)
        while len(self._memory_panels) > len(memories):
            self._memory_panels.pop().deleteLater()
        for made, memory in zip(self._memory_panels, memories, strict=True):
            made.show_memory(memory)

    def _show_devices(self, devices: tuple[Device, ...]) -> None:
        if devices == self._devices:
            return
        self._devices = devices
        clear(self._cards)
        for device in devices:
            facts = _Facts()
            facts.show_facts(device_facts(device))
            self._cards.addWidget(panel(selectable(label(device.name, "heading")), facts, margin=4))

    def _show_findings(self, machine: Machine) -> None:
        said = findings(machine)
        self._findings_panel.setVisible(bool(said))
        if said == self._said:
            return
        self._said = said
        clear(self._findings)
        for sentence in said:
            self._findings.addWidget(selectable(label(sentence, wrap=True)))

    def _tint(self) -> None:
        self._copy.setIcon(icon("copy", self._services.theme.tokens.text))


class _MemoryPanel(QFrame):
    """One memory: its bar, the parts named, and the sums."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._name = label("", "heading")
        self._sum = label("", "dim")
        self._bar = MemoryBar(theme, thick=True)
        self._legend = Legend(theme)
        column(row(self._name, None, self._sum), self._bar, self._legend, owner=self, margin=4)

    def show_memory(self, memory: Memory) -> None:
        """Show `memory`."""
        self._name.setText(memory.name)
        used, total = number(memory.used_bytes / GIB, 1), f"{number(memory.total_bytes / GIB, 1)}{THIN}GiB"
        self._sum.setText(text("{used} of {total} in use", used=used, total=total))
        self._bar.show_memory(memory)
        self._legend.show_memory(memory)


class _Facts(QWidget):
    """Names and values in two columns; a basis stands dim after its value."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6 * STEP)
        self._grid.setVerticalSpacing(2 * STEP)
        self._grid.setColumnStretch(1, 1)
        self._values: list[QLabel] = []
        self._names: tuple[str, ...] = ()

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show `facts`; labels stay where the names are the same, so that a selection of text stays."""
        names = tuple(fact.name for fact in facts)
        if names != self._names:
            self._names = names
            clear(self._grid)
            self._values = [self._add(place, fact) for place, fact in enumerate(facts)]
        for made, fact in zip(self._values, facts, strict=True):
            shown = f"{fact.value} · {fact.basis}" if fact.basis else fact.value
            if made.text() != shown:
                made.setText(shown)

    def _add(self, place: int, fact: Fact) -> QLabel:
        value = selectable(label("", wrap=True))
        value.setAccessibleName(fact.name)
        self._grid.addWidget(label(fact.name, "dim"), place, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, place, 1)
        return value
