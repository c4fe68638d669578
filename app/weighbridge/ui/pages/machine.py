"""The machine: live graphs, processor, memory and who has it, cards and who can use them, and what is not known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from weighbridge.base.units import GIB, THIN, number
from weighbridge.base.words import text
from weighbridge.hardware.machine import Device, Machine
from weighbridge.ui.clipboard import copy
from weighbridge.ui.icons import icon
from weighbridge.ui.machine_words import MachineFinding, device_facts, findings, report, system_facts
from weighbridge.ui.memory_parts import Memory
from weighbridge.ui.pages.machine_live import LivePanel
from weighbridge.ui.pages.page import Page
from weighbridge.ui.services import Services
from weighbridge.ui.theme import Theme
from weighbridge.ui.tracks import tracks
from weighbridge.ui.widgets.error_panel import ErrorPanel
from weighbridge.ui.widgets.facts import Facts
from weighbridge.ui.widgets.legend import Legend
from weighbridge.ui.widgets.memory_bar import MemoryBar
from weighbridge.ui.widgets.parts import action, button, clear, column, label, panel, row, selectable


class MachinePage(Page):
    """Shows what `services.memories` samples, while it is the page shown."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._watch = services.memories
        self._learnt = services.facts
        self._shown = False
        self._measure = button(text("Measure the bandwidth"), self.measure)
        self._errors = ErrorPanel(services.theme)
        self._live = LivePanel(services.theme)
        self._copy = button(text("Copy as text"), self.copy_report)
        self._looking = label(text("Looking at the machine…"), "dim")
        self._memory_panels: list[_MemoryPanel] = []
        self._memory_column = column(gap=3)
        self._facts = Facts()
        self._cards = column(gap=3)
        self._card_facts: list[Facts] = []
        self._card_names: list[str] | None = None
        self._findings = column(gap=1)
        self._said: list[MachineFinding] = []
        self._findings_panel = panel(label(text("Findings"), "heading"), self._findings, margin=4)
        self._lay_out()
        services.theme.dress(self)
        action(self, text("Copy the machine as text"), self.copy_report, "Ctrl+Shift+M")
        action(self, text("Measure the memory's bandwidth"), self.measure, "Ctrl+Shift+B")
        self._watch.changed.connect(self._sampled)
        self._learnt.changed.connect(self._show_learnt)
        services.theme.changed.connect(self._tint)
        self._tint()

    def entered(self) -> None:
        self._shown = True
        self._watch.look_closely(True)
        self._sampled()

    def left(self) -> None:
        self._shown = False
        self._watch.look_closely(False)

    @property
    def live(self) -> LivePanel:
        """The live graphs."""
        return self._live

    @property
    def measure_button(self) -> QPushButton:
        """Measures the memory's bandwidth."""
        return self._measure

    def measure(self) -> None:
        """Measure the memory's bandwidth."""
        if self._watch.machine is not None:
            self._learnt.measure(self._watch.machine)

    def copy_report(self) -> None:
        """Put all of it on the clipboard."""
        if self._watch.machine is not None:
            copy(report(self._watch.machine, self._watch.memories, self._learnt.told), self._copy)

    def _lay_out(self) -> None:
        head = row(label(text("Machine"), "title"), None, self._copy)
        title = row(label(text("Processor and memory"), "heading"), None, self._measure)
        self._system = panel(title, self._facts, margin=4)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        inner = column(
            self._looking,
            self._errors,
            self._memory_column,
            self._live,
            self._system,
            self._cards,
            self._findings_panel,
            None,
            owner=scrolled,
            gap=3,
        )
        inner.setContentsMargins(0, 0, 0, 0)
        area = QScrollArea(widgetResizable=True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(scrolled)
        area.setAccessibleName(text("Machine"))
        whole = column(head, area, owner=self, margin=4, gap=3)
        whole.setStretch(1, 1)

    def _sampled(self) -> None:
        machine = self._watch.machine
        if self._shown and machine is not None:
            self._live.add(tracks(machine, self._watch.cpu_load, self._watch.memories))
        self._show()

    def _show(self) -> None:
        machine = self._watch.machine
        if not self._shown:
            return
        self._looking.setVisible(machine is None)
        for widget in (self._live, self._system, self._findings_panel):
            widget.setVisible(machine is not None)
        if machine is not None:
            self._learnt.ask_engines(machine)
            self._show_memories(self._watch.memories)
            self._facts.show_facts(system_facts(machine, self._learnt.told))
            self._show_devices(machine.devices)
            self._show_findings(machine)

    def _show_learnt(self) -> None:
        """What the engines told or was measured comes with the next sample; how measuring goes is shown now."""
        measuring, error = self._learnt.measuring, self._learnt.error
        self._measure.setEnabled(not measuring)
        self._measure.setText(text("Measuring…") if measuring else text("Measure the bandwidth"))
        if error is None:
            self._errors.hide()
        else:
            self._errors.show_error(error, ((text("Try again"), self.measure),))
        self._watch.sample()

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
        names = [device.name for device in devices]
        if names != self._card_names:
            self._card_names = names
            clear(self._cards)
            self._card_facts = [Facts() for _ in devices]
            for name, facts in zip(names, self._card_facts, strict=True):
                self._cards.addWidget(panel(selectable(label(name, "heading")), facts, margin=4))
        for device, facts in zip(devices, self._card_facts, strict=True):
            facts.show_facts(device_facts(device, self._learnt.told))

    def _show_findings(self, machine: Machine) -> None:
        said = findings(machine, self._learnt.told)
        self._findings_panel.setVisible(bool(said))
        if said == self._said:
            return
        self._said = said
        clear(self._findings)
        for one in said:
            self._findings.addWidget(self._finding_line(one))

    def _finding_line(self, finding: MachineFinding) -> QWidget:
        """A sentence, with what leads to the build that mends it."""
        said = selectable(label(finding.said, wrap=True))
        if not finding.build_id:
            return said
        name = text("Show the build: {finding}", finding=finding.said)
        wanted = partial(self._services.bus.build_wanted.emit, finding.build_id)
        line = QWidget()
        inside = row(said, button(text("Show the build"), wanted, name=name), owner=line)
        inside.setStretch(0, 1)
        return line

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
