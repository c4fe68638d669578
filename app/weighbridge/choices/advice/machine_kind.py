"""Which kind of machine one is, and the figures of it that decide. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weighbridge.choices.advice.answers import Hardware
from weighbridge.hardware.generations import generation
from weighbridge.hardware.machine import Bandwidth, Device, Machine, MemoryKind

_NVIDIA_SERVER = ("volta", "ampere-hbm", "hopper")
_BLACKWELL_SERVER = ("blackwell-dc",)
_AMD_SERVER = ("cdna1", "cdna2", "cdna3", "cdna4")
_INTEL = ("xeon", "core(tm) ultra", "core ultra")
_VENDORS = ("nvidia", "amd", "intel")


@dataclass(frozen=True)
class Fast:
    """The memory in which a model is fastest: that of `count` cards of one kind, one memory that card and processor
    share, or the system's (`vendor` is "cpu" then). Of several cards the bytes are those of all, `gbs` that of one.
    """

    vendor: str
    name: str | None
    count: int
    total_bytes: int | None
    free_bytes: int | None
    bandwidth: Bandwidth | None
    capability: str | None = None
    unified: bool = False

    @property
    def gbs(self) -> float | None:
        """GB/s of one of them; the lower end of a range; None where it is unknown."""
        return None if self.bandwidth is None else self.bandwidth.low_gbs


def hardware_of(machine: Machine) -> Hardware:
    """The kind of `machine`: by its cards with memory of their own or all of it, else by its processor."""
    cards = cards_of(machine)
    if not cards:
        return Hardware.INTEL if is_of_intel(machine) else Hardware.PROCESSOR
    vendor = cards[0].vendor
    ages = {generation(card.vendor, card.name, card.compute_capability) for card in cards}
    if vendor == "nvidia":
        return _of_nvidia(ages, len(cards))
    if vendor == "amd":
        return Hardware.AMD_SERVER if ages & set(_AMD_SERVER) else Hardware.AMD_CARD
    return Hardware.APPLE if vendor == "apple" else Hardware.INTEL


def _of_nvidia(ages: Iterable[str | None], count: int) -> Hardware:
    if any(age in _BLACKWELL_SERVER for age in ages):
        return Hardware.BLACKWELL_SERVER
    if any(age in _NVIDIA_SERVER for age in ages):
        return Hardware.NVIDIA_SERVER
    return Hardware.ONE_NVIDIA if count == 1 else Hardware.SEVERAL_NVIDIA


def cards_of(machine: Machine) -> tuple[Device, ...]:
    """The cards that count: those of the maker of whose cards there is most memory, without parts that only borrow."""
    own = [device for device in machine.devices if device.memory.kind is not MemoryKind.SHARED]
    by_maker = {vendor: [one for one in own if one.vendor == vendor] for vendor in (*_VENDORS, "apple")}
    best = max(by_maker.values(), key=_memory, default=[])
    return tuple(best)


def fast_of(machine: Machine) -> Fast:
    """The memory in which a model is fastest on `machine`."""
    cards = cards_of(machine)
    if not cards:
        memory = machine.memory
        return Fast("cpu", machine.cpu.name, 1, memory.total_bytes, memory.available_bytes, machine.bandwidth)
    first = min(cards, key=lambda card: card.bandwidth.low_gbs if card.bandwidth else float("inf"))
    return Fast(
        vendor=first.vendor,
        name=first.name or None,
        count=len(cards),
        total_bytes=_sum(card.memory.total_bytes for card in cards),
        free_bytes=_sum(_usable(card) for card in cards),
        bandwidth=first.bandwidth if all(card.bandwidth for card in cards) else None,
        capability=_least(card.compute_capability for card in cards),
        unified=first.memory.kind is MemoryKind.UNIFIED,
    )


def system_of(machine: Machine) -> str:
    """ "linux", "windows" or "darwin"; another system by its own name in small letters. A machine with NVIDIA's cards
    that somebody thinks of on a Mac is no Mac.
    """
    name = machine.system.partition(" ")[0].casefold()
    return "linux" if name == "darwin" and any(card.vendor == "nvidia" for card in machine.devices) else name


def is_of_intel(machine: Machine) -> bool:
    """Whether its processor is one of those for which Intel makes an engine of its own."""
    name = (machine.cpu.name or "").casefold()
    return "intel" in name and any(family in name for family in _INTEL)


def _usable(card: Device) -> int | None:
    """What a model may take of it now."""
    memory = card.memory
    if memory.available_bytes is None or memory.usable_bytes is None:
        return memory.available_bytes
    return min(memory.available_bytes, memory.usable_bytes)


def _memory(cards: Sequence[Device]) -> int:
    return sum(card.memory.total_bytes or 1 for card in cards)


def _sum(amounts: Iterable[int | None]) -> int | None:
    known = list(amounts)
    return None if None in known else sum(filter(None, known))


def _least(capabilities: Iterable[str | None]) -> str | None:
    """The least of them; None where one is unknown."""
    known = list(capabilities)
    told = [each for each in known if each is not None]
    if not told or len(told) < len(known):
        return None
    return min(told, key=lambda each: tuple(int(part) if part.isdecimal() else 0 for part in each.split(".")))
