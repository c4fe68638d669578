"""Whether an engine can compute on a machine: on which of its cards, or why on nothing there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weighbridge.hardware.machine import VENDORS, Device, Machine
from weighbridge.running.builds import version_key
from weighbridge_engines.api import Cause, Engine, Hardware

_NO_CARD = "hardware.no_card"
_ABLE_PARTS = ("apple", "nvidia")
"""Makers whose graphics parts of a chip compute as their cards do."""


def usable_cards(hardware: Hardware, machine: Machine) -> list[Device]:
    """The cards of `machine` that are of a maker that `hardware` names; no graphics part of a processor, but for those
    of _ABLE_PARTS.
    """
    own = [card for card in machine.devices if card.vendor in hardware.vendors]
    return [card for card in own if not card.integrated or card.vendor in _ABLE_PARTS]


def unable(engine: Engine, machine: Machine | None) -> Cause | None:
    """Why it is certain that `engine` can compute nothing on `machine` ("program.needs_card",
    "program.needs_newer_card"); None where it can, or nobody can tell. Pure.
    """
    hardware = engine.hardware
    if hardware is None or machine is None:
        return None
    cards = usable_cards(hardware, machine)
    if cards:
        return _too_old(engine, hardware, cards)
    if knows_cards(machine) and not _works_without_card(engine, hardware):
        return needs_card(engine, hardware.vendors)
    return None


def needs_card(engine: Engine, vendors: Iterable[str]) -> Cause:
    """That `engine` computes on cards of `vendors` alone, and there is none."""
    named = ", ".join(sorted(VENDORS.get(vendor, vendor) for vendor in vendors))
    return Cause("program.needs_card", {"engine": engine.title, "vendors": named})


def knows_cards(machine: Machine) -> bool:
    """Whether it is told that there are no other cards: one that could not be asked may be there."""
    return bool(machine.devices) or any(cause.code == _NO_CARD for cause in machine.problems)


def _works_without_card(engine: Engine, hardware: Hardware) -> bool:
    """Whether what is here works without a card; what would be installed is the usual build."""
    if not hardware.processor or not hardware.processor_build:
        return hardware.processor
    return engine.missing() is None and hardware.processor_build in (engine.version() or "")


def _too_old(engine: Engine, hardware: Hardware, cards: Sequence[Device]) -> Cause | None:
    least = hardware.least_compute_capability
    known = [card for card in cards if card.compute_capability is not None]
    if least is None or any(version_key(card.compute_capability) >= version_key(least) for card in known):
        return None
    if len(known) < len(cards):
        return None
    values = {"engine": engine.title, "device": known[0].name, "has": known[0].compute_capability, "least": least}
    return Cause("program.needs_newer_card", values)
