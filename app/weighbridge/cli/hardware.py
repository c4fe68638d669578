"""`weighbridge hardware`: what this machine has."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from weighbridge.base.explain import explain_code
from weighbridge.base.units import bandwidth, number, size
from weighbridge.base.words import plural, text

if TYPE_CHECKING:
    from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine
    from weighbridge_engines.api import Cause


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = subparsers.add_parser("hardware", help=text("show what this machine has"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Look at the machine and print it."""
    from weighbridge.hardware.detect import detect

    machine = detect()
    print(json.dumps(_as_json(machine)) if arguments.json else _as_text(machine))
    return 0


def _as_json(machine: Machine) -> dict[str, Any]:
    values = asdict(machine)
    values["problems"] = [_cause_as_json(cause) for cause in machine.problems]
    for device, shown in zip(machine.devices, values["devices"], strict=True):
        shown["problems"] = [_cause_as_json(cause) for cause in device.problems]
    return values


def _cause_as_json(cause: Cause) -> dict[str, Any]:
    return {"code": cause.code, "message": _in_words(cause), "values": dict(cause.values)}


def _in_words(cause: Cause) -> str:
    return str(explain_code(cause.code, cause.values))


def _as_text(machine: Machine) -> str:
    lines = [
        text("System: {about}", about=machine.system),
        text("Processor: {about}", about=_cpu(machine.cpu)),
        text("Memory: {about}", about=_available(machine.memory.available_bytes, machine.memory.total_bytes)),
    ]
    for device in machine.devices:
        lines.append(text("Card: {about}", about=_device(device)))
        lines += [f"  {_in_words(cause)}" for cause in device.problems]
    return "\n".join([*lines, *(_in_words(cause) for cause in machine.problems)])


def _cpu(cpu: Cpu) -> str:
    parts = [cpu.name or text("unknown")]
    if cpu.physical_cores:
        parts.append(plural("{count} core", "{count} cores", cpu.physical_cores))
    if cpu.logical_cores:
        parts.append(plural("{count} thread", "{count} threads", cpu.logical_cores))
    if cpu.usable_cores and cpu.usable_cores != cpu.logical_cores:
        parts.append(text("{count} usable here", count=cpu.usable_cores))
    return ", ".join([*parts, " ".join(cpu.extensions)]).rstrip(", ")


def _device(device: Device) -> str:
    parts = [device.name, _available(device.memory.available_bytes, device.memory.total_bytes)]
    if device.memory.kind != "dedicated":
        parts.append(text("shared with the processor"))
    parts.append(_bandwidth(device.bandwidth))
    if device.compute_capability:
        parts.append(text("compute capability {number}", number=device.compute_capability))
    if device.driver:
        parts.append(text("driver {number}", number=device.driver))
    return ", ".join(parts)


def _available(available_bytes: int | None, total_bytes: int | None) -> str:
    if total_bytes is None:
        return text("memory unknown")
    return text("{free} free of {total}", free=size(available_bytes), total=size(total_bytes))


def _bandwidth(known: Bandwidth | None) -> str:
    if known is None:
        return text("bandwidth unknown")
    if known.gbs is not None:
        return bandwidth(known.gbs)
    return text("{low} to {high}", low=number(known.low_gbs), high=bandwidth(known.high_gbs))
