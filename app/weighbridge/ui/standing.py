"""What models are weighed against: this machine as things stand, or another that somebody thinks of. No Qt here."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.choices.choice import Surroundings
from weighbridge.choices.other_machine import OtherMachine
from weighbridge.choices.speeds import Speedometer
from weighbridge.hardware.machine import Machine
from weighbridge.running.devices import Told
from weighbridge.ui.weighing_sources import Sources

_FREE_STEP_BYTES = 100 << 20
"""Free memory that moves by less changes no figure that is shown."""

Stamp = tuple[object, ...]


class Standing:
    """The one place that knows which machine is meant. For the GUI thread."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._other: OtherMachine | None = None
        self._there: tuple[Machine, Sequence[Told], Surroundings] | None = None

    @property
    def other(self) -> OtherMachine | None:
        """The machine that is thought of; None: this one."""
        return self._other

    def choose(self, other: OtherMachine | None) -> None:
        """Weigh against `other` from now on. Raises Refused, and keeps what was chosen, where it cannot be."""
        here = self.here()
        if other is None or other.is_this:
            self._other, self._there = None, None
        elif here is not None:
            there = other.described(here)
            self._other, self._there = other, (here.machine, here.told, there)

    def here(self) -> Surroundings | None:
        """This machine; None while it is not known where models could lie: a card may be about to be named."""
        machine, told = self._sources.machine(), self._sources.told()
        if machine is None or (told is None and machine.devices):
            return None
        return Surroundings(machine, self._sources.engines, told or (), self._sources.running())

    def around(self) -> Surroundings | None:
        """The machine that is meant."""
        here = self.here()
        if here is None or self._other is None:
            return here
        made = self._there
        if made is None or made[0] is not here.machine or made[1] is not here.told:
            made = self._there = (here.machine, here.told, self._other.described(here))
        return made[2]

    def speedometer(self, around: Surroundings) -> Speedometer:
        """Tells speeds there; what ran here says nothing of another machine."""
        return self._sources.speeds.of(around, None if self._other is None else ())

    def stamp(self, around: Surroundings) -> Stamp:
        """All that a figure of memory depends on beside the file, in steps that can be seen."""
        machine = around.machine
        running = tuple((one.model_id, one.state, bool(one.in_flight), one.pinned) for one in around.running)
        free = _steps(machine.memory.available_bytes)
        cards = tuple(_steps(card.memory.available_bytes) for card in machine.devices)
        return (self._other, self._sources.context(), free, cards, len(around.told), running)

    def speed_stamp(self, around: Surroundings) -> Stamp:
        """All that a speed depends on beside that."""
        cards = tuple(card.bandwidth for card in around.machine.devices)
        return (around.machine.bandwidth, cards, self._sources.speeds.runs)


def _steps(free_bytes: int | None) -> int | None:
    return None if free_bytes is None else free_bytes // _FREE_STEP_BYTES
