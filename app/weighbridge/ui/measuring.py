"""Having the memory of this machine measured, from whichever page."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from weighbridge.ui.services import Services


class Measuring(QObject):
    """`failed` tells why it could not be measured, to who has asked for it: what another page asks for, that one
    hears of. What is found comes with the machine's next sample.
    """

    failed = Signal(object)

    def __init__(self, services: Services, parent: QObject) -> None:
        super().__init__(parent)
        self._services = services
        self._asked = False
        services.facts.changed.connect(self._learnt)

    def measure(self) -> bool:
        """Measure it now; False where it is not known yet what there is to measure."""
        machine = self._services.memories.machine
        if machine is None:
            return False
        self._asked = True
        self._services.facts.measure(machine)
        return True

    def _learnt(self) -> None:
        facts = self._services.facts
        if self._asked and facts.error is not None:
            self.failed.emit(facts.error)
        self._asked = self._asked and facts.measuring
