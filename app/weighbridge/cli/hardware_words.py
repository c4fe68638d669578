"""The machine in words, for the terminal and for reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge import __version__
from weighbridge.base.explain import explain_code
from weighbridge.base.units import bandwidth, number, size
from weighbridge.base.words import mark, plural, text
from weighbridge.hardware.machine import Bandwidth, Basis, Cpu, Device, Machine, Memory, MemoryKind, Sensors
from weighbridge.running.devices import Told, missing_build
from weighbridge_engines.api import Cause

_KINDS: Mapping[MemoryKind, str] = {
    MemoryKind.DEDICATED: mark("its own"),
    MemoryKind.UNIFIED: mark("shared with the processor"),
    MemoryKind.SHARED: mark("borrowed from the system"),
}
_BASES: Mapping[Basis, str] = {
    Basis.TOLD: mark("as the system tells"),
    Basis.SET: mark("as set here"),
    Basis.ESTIMATE: mark("estimated"),
}
_WITHIN: Mapping[str, str] = {
    "wsl": mark("inside Windows (WSL)"),
    "container": mark("in a container"),
    "virtual": mark("in a virtual machine"),
}


def head_of_report() -> str:
    """The first line of a report."""
    return f"Weighbridge {__version__}"


def in_words(machine: Machine, told: Sequence[Told]) -> str:
    """All of it, a fact a line."""
    around = ", ".join(text(_WITHIN[name]) for name in machine.within)
    system = f"{machine.system} ({around})" if around else machine.system
    lines = [
        text("System: {about}", about=system),
        text("Processor: {about}", about=_cpu(machine.cpu)),
        text("Memory: {about}", about=_available(machine.memory)),
        _indented(text("bandwidth: {about}", about=_bandwidth(machine.bandwidth))),
    ]
    for device in machine.devices:
        lines += [text("Card: {about}", about=device.name), *map(_indented, _device(device, told))]
    lines += [text("Engine: {about}", about=_engine(one)) for one in told]
    return "\n".join([*lines, *(_sentence(cause) for cause in machine.problems)])


def _device(device: Device, told: Sequence[Told]) -> list[str]:
    lines = [text("memory: {about}", about=_memory(device.memory))]
    if device.also is not None:
        lines.append(text("besides, not added: {about}", about=_memory(device.also)))
    lines.append(text("bandwidth: {about}", about=_bandwidth(device.bandwidth)))
    if driver := _driver(device):
        lines.append(driver)
    if sensors := _sensors(device.sensors):
        lines.append(sensors)
    if device.seen_by:
        titles = {one.engine_id: one.title for one in told}
        seen = (f"{titles.get(sight.engine, sight.engine)} ({sight.id})" for sight in device.seen_by)
        lines.append(text("can be used by: {engines}", engines=", ".join(seen)))
    missing = missing_build(device, told)
    causes = device.problems if missing is None else (*device.problems, missing)
    return [*lines, *(_sentence(cause) for cause in causes)]


def _engine(told: Told) -> str:
    name = " ".join(filter(None, (told.title, told.version)))
    if told.problem is not None:
        return f"{name}. {_sentence(told.problem)}"
    devices = ", ".join(device.name if device.kind == "cpu" else device.id for device in told.devices or ())
    return text("{engine}: can use {devices}", engine=name, devices=devices or text("nothing"))


def _cpu(cpu: Cpu) -> str:
    parts = [cpu.name or text("unknown")]
    if cpu.physical_cores:
        parts.append(plural("{count} core", "{count} cores", cpu.physical_cores))
    if cpu.logical_cores:
        parts.append(plural("{count} thread", "{count} threads", cpu.logical_cores))
    if cpu.usable_cores and cpu.usable_cores != cpu.logical_cores:
        parts.append(text("{count} usable here", count=cpu.usable_cores))
    if cpu.numa_nodes and cpu.numa_nodes > 1:
        parts.append(text("{count} NUMA nodes", count=cpu.numa_nodes))
    return ", ".join([*parts, " ".join(cpu.extensions)]).rstrip(", ")


def _memory(memory: Memory) -> str:
    parts = [_available(memory), text(_KINDS[memory.kind])]
    if memory.usable_bytes is not None and memory.usable_basis is not None:
        basis = text(_BASES[memory.usable_basis])
        parts.append(text("{size} usable ({basis})", size=size(memory.usable_bytes), basis=basis))
    return ", ".join(parts)


def _available(memory: Memory) -> str:
    if memory.total_bytes is None:
        return text("memory unknown")
    return text("{free} free of {total}", free=size(memory.available_bytes), total=size(memory.total_bytes))


def _bandwidth(known: Bandwidth | None) -> str:
    if known is None:
        return text("unknown")
    shown = text("{low} to {high}", low=number(known.low_gbs), high=bandwidth(known.high_gbs))
    if known.gbs is not None:
        shown = bandwidth(known.gbs)
    if known.measured_on is not None:
        return text("{speed}, measured here on {day}", speed=shown, day=known.measured_on)
    return text("{speed}, published ({place})", speed=shown, place=known.source)


def _driver(device: Device) -> str:
    parts = [text("driver {number}", number=device.driver)] if device.driver else []
    if device.compute_capability:
        parts.append(text("compute capability {number}", number=device.compute_capability))
    if device.nvlink:
        parts.append(text("NVLink to every other card"))
    return ", ".join(parts)


def _sensors(sensors: Sensors) -> str:
    parts = []
    if sensors.power_limit_w is not None:
        limit = text("power limit {watts} W", watts=number(sensors.power_limit_w))
        if sensors.power_default_w is not None and sensors.power_default_w != sensors.power_limit_w:
            limit += " " + text("(by default {watts} W)", watts=number(sensors.power_default_w))
        parts.append(limit)
    if sensors.temperature_c is not None:
        parts.append(text("{degrees} °C", degrees=number(sensors.temperature_c)))
    return ", ".join(parts)


def _sentence(cause: Cause) -> str:
    return str(explain_code(cause.code, cause.values))


def _indented(line: str) -> str:
    return f"  {line}"
