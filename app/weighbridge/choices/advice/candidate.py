"""One engine as it is thought of: what is known of it before, what it tells of itself, and what it sees here. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from weighbridge.choices.advice.answers import Need
from weighbridge.choices.advice.ground import Ground
from weighbridge.choices.advice.knowledge import Knowledge, Known
from weighbridge.choices.advice.machine_kind import cards_of, fast_of
from weighbridge.hardware.machine import Device
from weighbridge_engines.api import Capability, Engine, Hardware

_CAPABILITIES = {
    Need.JSON_SCHEMA: Capability.JSON_SCHEMA,
    Need.TOOLS: Capability.TOOLS,
    Need.VISION: Capability.VISION,
    Need.EMBEDDINGS: Capability.EMBEDDINGS,
}


@dataclass(frozen=True)
class Candidate:
    """An engine on a ground. `engine` is None for one that is no part of the program."""

    known: Known
    engine: Engine | None
    ground: Ground

    @property
    def id(self) -> str:
        """Its id."""
        return self.known.id

    @property
    def title(self) -> str:
        """As it calls itself."""
        return self.engine.title if self.engine is not None else self.known.title

    @property
    def formats(self) -> frozenset[str]:
        """What it runs."""
        return self.engine.formats if self.engine is not None else self.known.formats

    @property
    def cards(self) -> Mapping[str, str]:
        """Whose cards it uses, with the least compute capability of NVIDIA's ("" where any will do)."""
        told = self.engine.hardware if self.engine is not None else None
        if told is None:
            return self.known.cards
        return {vendor: _least(told, vendor) for vendor in told.vendors}

    @cached_property
    def here(self) -> bool:
        """Whether it is installed, on a machine that is this one."""
        return self.engine is not None and not self.ground.elsewhere and self.engine.missing() is None

    @property
    def attached(self) -> str | None:
        """What a server of it is called that is attached already."""
        return self.ground.attached.get(self.known.preset)

    def offers(self, setting: str, value: object = None) -> bool:
        """Whether it has a setting of that name, and where `value` is told, whether that is one of its values."""
        controls = self.engine.controls if self.engine is not None else ()
        return any(one.name == setting and (value is None or value in (one.choices or ())) for one in controls)

    @property
    def parallel(self) -> bool:
        """Whether it answers several at a time."""
        told = self.engine is not None and Capability.PARALLEL in self.engine.capabilities
        return told or self.known.serves or "parallel" in self.known.can

    def can(self, need: Need) -> bool:
        """Whether it can do what is needed, as it tells itself, or as is known of it."""
        capability = _CAPABILITIES.get(need)
        told = self.engine is not None and capability is not None and capability in self.engine.capabilities
        return told or need.value in self.known.can

    def sees(self, card: Device) -> bool | None:
        """Whether the build in use can use `card`; None where it cannot be asked, or is not here."""
        if self.ground.elsewhere:
            return None
        if any(sight.engine == self.id for sight in card.seen_by):
            return True
        told = next((one for one in self.ground.around.told if one.engine_id == self.id), None)
        return None if told is None or told.devices is None else False

    @property
    def on_cards(self) -> bool:
        """Whether it computes on the cards that count here, where there are any."""
        fast = fast_of(self.ground.around.machine)
        return fast.vendor == "cpu" or fast.vendor in self.cards

    @property
    def blind_to(self) -> Device | None:
        """A card that counts here and that the build in use cannot use; None where there is none, or nobody knows."""
        if not self.here or not self.on_cards:
            return None
        return next((card for card in cards_of(self.ground.around.machine) if self.sees(card) is False), None)


def candidates(ground: Ground, known: Knowledge) -> Iterator[Candidate]:
    """All engines of the ground that the table knows, and those that are attached, in its order."""
    for one in known.engines.values():
        engine = ground.engine(one.id)
        if engine is not None or one.formats:
            yield Candidate(one, engine, ground)


def _least(hardware: Hardware, vendor: str) -> str:
    return (hardware.least_compute_capability or "") if vendor == "nvidia" else ""
