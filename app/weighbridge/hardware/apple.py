"""The graphics part of Apple's chips, from what `sysctl` and `system_profiler` print.

Its memory is the system's. Metal advises how much of it one program should keep there (recommendedMaxWorkingSetSize);
only Metal itself knows, so an engine's word comes first, then the limit that the user has raised
(`iogpu.wired_limit_mb`), then an estimate by the shares observed on other machines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.host import Host
from weighbridge.hardware.machine import Basis, Device, Found, Memory, MemoryKind
from weighbridge.hardware.rows import GIB
from weighbridge_engines.api import Cause

SYSCTL = "/usr/sbin/sysctl"
PROFILER = ("/usr/sbin/system_profiler", "SPDisplaysDataType", "-json")
NAMES = ("machdep.cpu.brand_string", "iogpu.wired_limit_mb", "kern.hv_vmm_present")
LIMIT_S = 8.0
_MIB = 1 << 20
_LARGE_BYTES = 36 * GIB
_SHARE, _SHARE_OF_LARGE = 2 / 3, 3 / 4
"""Observed: 0.67 to 0.74 of up to 36 GiB, 0.75 to 0.84 of more. The lower ends are taken."""
_NO_METAL = ("spdisplays_notsupported", "spdisplays_metal_notsupported")


def find_apple(host: Host, system: Memory, table: Table) -> Found:
    """The graphics part of this Mac, or why there is none to compute on."""
    if host.system != "Darwin":
        return Found()
    values = fields(printed(host, (SYSCTL, *NAMES)))
    return read_displays(printed(host, PROFILER), values, system, table)


def printed(host: Host, argv: tuple[str, ...]) -> str:
    """What a program of the system prints; "" where it cannot be started or does not end."""
    try:
        return host.ask(argv, LIMIT_S).out
    except OSError:
        return ""


def fields(text: str) -> dict[str, str]:
    """The lines "name: value" that `sysctl` prints."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and value.strip()}


def read_displays(text: str, values: Mapping[str, str], system: Memory, table: Table) -> Found:
    """The device from the profiler's JSON and the values of `sysctl`. A Mac with Apple's chip has one."""
    chip = values.get("machdep.cpu.brand_string", "")
    shown = _displays(text)
    part = next((display for display in shown if _is_apple(display)), None)
    if part is None and chip.startswith("Apple") and not shown:
        # Without a screen, or where the profiler fails, the chip is still known to have its graphics part.
        part = {"sppci_model": chip} if values.get("kern.hv_vmm_present") != "1" else None
    if part is None or _is_virtual(part) or part.get("spdisplays_mtlgpufamilysupport") in _NO_METAL:
        return Found((), (Cause("apple.no_metal", {"name": _name(part or (shown or [{}])[0]) or chip or "-"}),))
    return Found((_device(part, values, system, table),))


def working_set(system: Memory, values: Mapping[str, str]) -> Memory:
    """The system's memory as the graphics part may use it."""
    total = system.total_bytes
    if total is None:
        return Memory(MemoryKind.UNIFIED, None, system.available_bytes)
    raised = values.get("iogpu.wired_limit_mb", "0")
    if raised.isdecimal() and int(raised) > 0:
        usable, basis = min(total, int(raised) * _MIB), Basis.SET
    else:
        usable, basis = int(total * (_SHARE if total <= _LARGE_BYTES else _SHARE_OF_LARGE)), Basis.ESTIMATE
    available = None if system.available_bytes is None else min(system.available_bytes, usable)
    return Memory(MemoryKind.UNIFIED, total, available, usable, basis)


def _device(part: Mapping[str, Any], values: Mapping[str, str], system: Memory, table: Table) -> Device:
    name = _name(part)
    told = str(part.get("sppci_cores") or "")
    cores = int(told) if told.isdecimal() else table.cores_of(name)
    bandwidth = table.of(f"{name} ({cores}-core GPU)") if cores else None
    return Device(
        id="metal0",
        vendor="apple",
        name=name,
        memory=working_set(system, values),
        bandwidth=bandwidth or table.of(name),
        integrated=True,
        gpu_cores=cores,
    )


def _displays(text: str) -> list[dict[str, Any]]:
    try:
        displays = json.loads(text)["SPDisplaysDataType"]
    except (ValueError, KeyError, TypeError):
        return []
    return [display for display in displays if isinstance(display, dict)] if isinstance(displays, list) else []


def _name(part: Mapping[str, Any]) -> str:
    return str(part.get("sppci_model") or part.get("_name") or "")


def _is_apple(part: Mapping[str, Any]) -> bool:
    return _name(part).startswith("Apple")


def _is_virtual(part: Mapping[str, Any]) -> bool:
    """The device that macOS gives its guests does not run what engines ask of it."""
    return "paravirtual" in _name(part).lower()
