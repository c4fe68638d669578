"""The machine in words: rows of figures for the page, and one text to copy. No Qt here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weighbridge import __version__
from weighbridge.base.explain import explain_code
from weighbridge.base.units import THIN, bandwidth, number, size
from weighbridge.base.words import mark, text
from weighbridge.hardware.machine import Bandwidth, Basis, Device, Machine, MemoryKind
from weighbridge.hardware.machine import Memory as DeviceMemory
from weighbridge.hardware.persons import cleaned_cause, cleaned_machine, names_here
from weighbridge.running.devices import Told, missing_build
from weighbridge.ui.memory_parts import Memory, in_words
from weighbridge_engines.api import Cause

_KINDS = {
    MemoryKind.DEDICATED: mark("its own"),
    MemoryKind.UNIFIED: mark("shared with the processor"),
    MemoryKind.SHARED: mark("borrowed from the system"),
}


_BASES = {
    Basis.TOLD: mark("as the system tells"),
    Basis.SET: mark("as set here"),
    Basis.ESTIMATE: mark("estimated"),
}


@dataclass(frozen=True)
class Fact:
    """A name and a value, and where the value comes from ("" where that is plain)."""

    name: str
    value: str
    basis: str = ""


def system_facts(machine: Machine, told: Sequence[Told] = ()) -> list[Fact]:
    """The system, its processor and its memory; `told` is what the engines told of what they can use."""
    cpu, memory = machine.cpu, machine.memory
    return [
        Fact(text("System"), machine.system or text("unknown")),
        Fact(text("Processor"), cpu.name or text("unknown")),
        Fact(text("Cores"), _cores(machine)),
        Fact(text("Vector extensions"), ", ".join(cpu.extensions) or text("unknown")),
        Fact(text("Memory"), size(memory.total_bytes)),
        Fact(text("Available now"), size(memory.available_bytes)),
        _own_bandwidth(machine.bandwidth),
        *_usable_by([one.title for one in told if one.uses_processor], told),
    ]


def device_facts(device: Device, told: Sequence[Told] = ()) -> list[Fact]:
    """One graphics card; `told` as in `system_facts`."""
    facts = [Fact(text("Memory"), _pool(device.memory)), *_usable(device.memory)]
    facts.append(Fact(text("Free now"), size(device.memory.available_bytes)))
    if device.also is not None:
        facts.append(Fact(text("Besides, not added"), _pool(device.also)))
    facts += [bandwidth_fact(device.bandwidth), Fact(text("Driver"), device.driver or text("unknown"))]
    if device.vendor == "nvidia":
        facts.append(Fact(text("Compute capability"), device.compute_capability or text("unknown")))
    if device.nvlink is not None:
        facts.append(Fact("NVLink", text("to every other card") if device.nvlink else text("to no other card")))
    titles = {one.engine_id: one.title for one in told}
    seen = [f"{titles.get(sight.engine, sight.engine)} ({sight.id})" for sight in device.seen_by]
    return facts + _power(device) + _usable_by(seen, told)


def _usable_by(engines: Sequence[str], told: Sequence[Told]) -> list[Fact]:
    """Nothing before the engines have told."""
    if not told:
        return []
    return [Fact(text("Can be used by"), ", ".join(engines) or text("no installed engine"))]


def _own_bandwidth(found: Bandwidth | None) -> Fact:
    if found is None:
        return Fact(text("Bandwidth"), text("unknown"), text("Not measured here yet."))
    return bandwidth_fact(found)


def _pool(memory: DeviceMemory) -> str:
    return f"{size(memory.total_bytes)}, {text(_KINDS[memory.kind])}"


def _usable(memory: DeviceMemory) -> list[Fact]:
    """What of a memory the card may use, where that is less than all of it."""
    if memory.usable_bytes is None or memory.usable_basis is None:
        return []
    return [Fact(text("Usable"), size(memory.usable_bytes), text(_BASES[memory.usable_basis]))]


def _power(device: Device) -> list[Fact]:
    """The limit, and the usual one where it was changed: a card held back is a slower one."""
    limit, default = device.sensors.power_limit_w, device.sensors.power_default_w
    if limit is None:
        return []
    changed = default is not None and default != limit
    basis = text("(by default {watts} W)", watts=number(default or 0)) if changed else ""
    return [Fact(text("Power limit"), f"{number(limit)}{THIN}W", basis)]


def bandwidth_fact(found: Bandwidth | None) -> Fact:
    """Bandwidth as measured here, or published: a range where the name stands for several cards, with its source."""
    name = text("Bandwidth")
    if found is None:
        return Fact(name, text("unknown"), text("This card is not in the table of published figures."))
    low, high = number(found.low_gbs), number(found.high_gbs)
    shown = bandwidth(found.gbs) if found.gbs is not None else f"{low} – {high}{THIN}GB/s"
    if found.measured_on is not None:
        return Fact(name, shown, text("Measured here on {day}", day=found.measured_on))
    return Fact(name, shown, text("Published: {place}", place=found.source))


@dataclass(frozen=True)
class MachineFinding:
    """A sentence of what was found. `build_id` is the build of an engine that would mend it; "" where none is known."""

    said: str
    build_id: str = ""


def findings(machine: Machine, told: Sequence[Told] = ()) -> list[MachineFinding]:
    """What could not be found out and why, and what is missing to use a card."""
    found = [MachineFinding(_sentence(cause)) for cause in machine.problems]
    for device in machine.devices:
        found += [MachineFinding(f"{device.name}: {_sentence(cause)}") for cause in device.problems]
        missing = missing_build(device, told) if told else None
        if missing is not None:
            found.append(MachineFinding(_sentence(missing), str(missing.values.get("build_id", ""))))
    return found + [MachineFinding(_sentence(one.problem)) for one in told if one.problem is not None]


def report(machine: Machine, memories: Iterable[Memory], told: Sequence[Told] = ()) -> str:
    """All of it as text, to be passed on: without names of people or single devices' numbers."""
    names = names_here()
    machine = cleaned_machine(machine, names)
    told = [one if one.problem is None else replace(one, problem=cleaned_cause(one.problem, names)) for one in told]
    lines = [f"Weighbridge {__version__}", "", *_lines(system_facts(machine, told))]
    for device in machine.devices:
        lines += ["", device.name, *_lines(device_facts(device, told))]
    for memory in memories:
        lines += ["", text("What is in {memory}", memory=memory.name)]
        lines += [f"  {in_words(part, memory)}" for part in memory.ordered]
    said = findings(machine, told)
    lines += ["", text("Findings"), *(f"  {one.said}" for one in said)] if said else []
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
