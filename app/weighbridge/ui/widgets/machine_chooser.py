"""Another machine than this one, chosen on a strip: handed to whoever weighs."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.choices.other_machine import OtherMachine, cards_by_name
from weighbridge.hardware.cards import Card
from weighbridge.hardware.described import card_called
from weighbridge.hardware.memory_types import MemoryType, load_memory_types
from weighbridge.ui.services import Services
from weighbridge.ui.widgets.machine_strip import MachineStrip
from weighbridge.ui.widgets.parts import button


class MachineChooser(QObject):
    """The strip, and the button that opens it, which is told by `opened`. `changed`: models are weighed for another
    machine from now on.
    """

    changed = Signal()
    opened = Signal()

    def __init__(self, services: Services, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self._table = services.weighing.tables.cards
        self._listed: Task | None = None
        self.strip = MachineStrip(services.theme, self._find, parent)
        self.opener = button(text("What if…"), self.open, name=text("What if the machine were another?"))
        self.opener.setToolTip(text("Weigh for another card, more of them, or other memory"))
        self.strip.chosen.connect(self._choose)
        self.strip.left.connect(self._leave)
        services.memories.changed.connect(self._allow)
        services.facts.changed.connect(self._allow)
        self._allow()
        self.take_over()

    @property
    def is_open(self) -> bool:
        """Whether the strip is shown."""
        return not self.strip.isHidden()

    def open(self) -> None:
        """Show the strip; its list of cards comes as soon as it is made. Nothing before this machine is known."""
        if not self.opener.isEnabled():
            return
        self.opener.hide()
        if self._listed is None:
            self._listed = self._services.background.run(self._list, lambda found: self.strip.offer(*found), _ignore)
        self.strip.open()
        self.opened.emit()

    def take_over(self) -> None:
        """Show the machine that is meant, whoever chose it; tells nobody."""
        other = self._services.weighing.other
        self.strip.apply(other or OtherMachine())
        self.strip.setVisible(other is not None)
        self.show_machine()

    def show_machine(self) -> None:
        """Say which machine models are weighed for."""
        weighing = self._services.weighing
        if self.is_open or self.opener.parent() is not None:  # what has no place yet would show as a window
            self.opener.setVisible(not self.is_open)
        self.strip.show_machine(None if weighing.other is None else weighing.machine)

    def _allow(self) -> None:
        """Another machine is described as this one with something else in it."""
        self.opener.setEnabled(self._services.weighing.machine is not None)

    def _choose(self, other: OtherMachine) -> None:
        try:
            self._services.weighing.think_of(other)
        except WeighbridgeError as error:
            self.strip.show_error(error)
            return
        self.show_machine()
        self.changed.emit()

    def _leave(self) -> None:
        self._services.weighing.think_of(None)
        self.show_machine()
        self.opener.setFocus()
        self.changed.emit()

    def _find(self, name: str) -> Card:
        return card_called(self._table, name)

    def _list(self, task: Task) -> tuple[dict[str, Card], tuple[MemoryType, ...]]:
        del task
        return cards_by_name(self._table), load_memory_types()


def _ignore(error: BaseException) -> None:
    """The window closes: without a list a card can still be typed."""
    del error
