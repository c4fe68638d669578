"""The machine in words: rows of figures for the page, and one text to copy. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weighbridge import __version__
from weighbridge.base.explain import explain_code
from weighbridge.base.units import THIN, bandwidth, number, size
from weighbridge.base.words import mark, text
from weighbridge.hardware.machine import Bandwidth, Device, Machine, MemoryKind
from weighbridge.ui.memory_parts import Memory, in_words
from weighbridge_engines.api import Cause

_KINDS = {
    MemoryKind.DEDICATED: mark("its own"),
    MemoryKind.UNIFIED: mark("shared with the processor"),
    MemoryKind.SHARED: mark("borrowed from the system"),
}


@dataclass(frozen=True)
class Fact:
    """A name and a value, and where the value comes from ("" where that is plain)."""

    name: str
    value: str
    basis: str = ""


def system_facts(machine: Machine) -> list[Fact]:
    """The system, its processor and its memory."""
    cpu, memory = machine.cpu, machine.memory
    return [
        Fact(text("System"), machine.system or text("unknown")),
        Fact(text("Processor"), cpu.name or text("unknown")),
        Fact(text("Cores"), _cores(machine)),
        Fact(text("Vector extensions"), ", ".join(cpu.extensions) or text("unknown")),
        Fact(text("Memory"), size(memory.total_bytes)),
        Fact(text("Available now"), size(memory.available_bytes)),
    ]


def device_facts(device: Device) -> list[Fact]:
    """One graphics card."""
    return [
        Fact(text("Memory"), f"{size(device.memory.total_bytes)}, {text(_KINDS[device.memory.kind])}"),
        Fact(text("Free now"), size(device.memory.available_bytes)),
        bandwidth_fact(device.bandwidth),
        Fact(text("Driver"), device.driver or text("unknown")),
        Fact(text("Compute capability"), device.compute_capability or text("unknown")),
    ]


def bandwidth_fact(found: Bandwidth | None) -> Fact:
    """Published bandwidth, a range where the name stands for several cards, with its source."""
    name = text("Bandwidth")
    if found is None:
        return Fact(name, text("unknown"), text("This card is not in the table of published figures."))
    low, high = number(found.low_gbs), number(found.high_gbs)
    shown = bandwidth(found.gbs) if found.gbs is not None else f"{low} – {high}{THIN}GB/s"
    return Fact(name, shown, text("Published: {place}", place=found.source))


def findings(machine: Machine) -> list[str]:
    """What could not be found out and why, a sentence each."""
    causes: list[Cause] = [*machine.problems]
    said = [_sentence(cause) for cause in causes]
    for device in machine.devices:
        said += [f"{device.name}: {_sentence(cause)}" for cause in device.problems]
    return said


def report(machine: Machine, memories: Iterable[Memory]) -> str:
    """All of it as text."""
    lines = [f"Weighbridge {__version__}", "", *_lines(system_facts(machine))]
    for device in machine.devices:
        lines += ["", device.name, *_lines(device_facts(device))]
    for memory in memories:
        lines += ["", text("What is in {memory}", memory=memory.name)]
        lines += [f"  {in_words(part, memory)}" for part in memory.ordered]
    said = findings(machine)
    lines += ["", text("Findings"), *(f"  {sentence}" for sentence in said)] if said else []
    return "\n".join(lines) + "\n"


def _lines(facts: Iterable[Fact]) -> list[str]:
    return [f"  {fact.name}: {fact.value}" for fact in facts]


def _sentence(cause: Cause) -> str:
    return str(explain_code(cause.code, cause.values))


def _cores(machine: Machine) -> str:
    cpu = machine.cpu
    if cpu.physical_cores is None and cpu.logical_cores is None:
        return text("unknown")
    physical = text("unknown") if cpu.physical_cores is None else number(cpu.physical_cores)
    logical = text("unknown") if cpu.logical_cores is None else number(cpu.logical_cores)
    said = text("{physical} physical, {logical} logical", physical=physical, logical=logical)
    if cpu.usable_cores is not None and cpu.usable_cores != cpu.logical_cores:
        said += " · " + text("{count} for this program", count=number(cpu.usable_cores))
    return said
