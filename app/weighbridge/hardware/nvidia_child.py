"""The parent's side of the NVIDIA probe: start the child, give it five seconds, read its line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.host import Host
from weighbridge.hardware.machine import Bandwidth, Device, Found, Memory, MemoryKind, Sensors
from weighbridge.hardware.nvidia import is_unified
from weighbridge.hardware.nvml import LIBRARY_MISSING
from weighbridge.hardware.pci import NVIDIA, cards
from weighbridge_engines.api import Cause

LIMIT_S = 5.0
SYSTEMS = ("Linux", "Windows")
"""Where the maker's driver is to be had."""
DEVICE_TREE = "/proc/device-tree/model"
_SLICES = 8
"""A card's memory and its bandwidth are divided by eighths (NVIDIA, "MIG User Guide", device partitioning)."""


def probe_argv(frozen: bool, executable: str) -> list[str]:
    """The command of the child; a frozen build knows itself by the hidden command `probe nvidia`."""
    if frozen:
        return [executable, "probe", "nvidia"]
    return [executable, "-P", "-m", "weighbridge.hardware.nvidia"]


def find_nvidia(host: Host, system: Memory, table: Table, limit_s: float = LIMIT_S) -> Found:
    """The NVIDIA cards of a machine. `system` is its memory, which a card with unified memory shares."""
    if host.system not in SYSTEMS:
        return Found()
    command = probe_argv(bool(getattr(sys, "frozen", False)), sys.executable)
    found = _asked(host, command, limit_s, system, table)
    if found.devices:
        return found
    return _jetson(host, system, table) or replace(found, problems=_true_here(host, found.problems))


def _asked(host: Host, command: Sequence[str], limit_s: float, system: Memory, table: Table) -> Found:
    try:
        answer = host.ask(command, limit_s)
    except OSError as error:
        return _failed("nvidia.probe_failed", reason=error.strerror or str(error))
    if answer.exit_code is None:
        return _failed("nvidia.hangs", limit_s=int(limit_s))
    if answer.exit_code != 0:
        return _failed("nvidia.probe_failed", reason=answer.err.strip() or str(answer.exit_code))
    return read_answer(answer.out, system, table)


def read_answer(text: str, system: Memory, table: Table) -> Found:
    """What the child's line says; lines before it, such as a library's warnings, are passed over."""
    lines = text.strip().splitlines()
    try:
        found = json.loads(lines[-1] if lines else "")
        devices = tuple(_device(card, system, table) for card in found["cards"])
        return Found(devices, _causes(found["faults"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return _failed("nvidia.probe_failed", reason=text.strip()[:200] or "-")


def _device(card: Mapping[str, Any], system: Memory, table: Table) -> Device:
    total, name = card["total_bytes"], card["name"]
    if card["unified"]:
        memory = Memory(MemoryKind.UNIFIED, system.total_bytes, system.available_bytes)
    else:
        memory = Memory(MemoryKind.DEDICATED, total, card["free_bytes"])
    return Device(
        id=card["id"],
        vendor="nvidia",
        name=name or "NVIDIA",
        memory=memory,
        driver=card["driver"],
        compute_capability=card["compute_capability"],
        pci_id=card["pci_id"],
        bandwidth=_bandwidth(name, total, card["slice_of_bytes"], table) if name else None,
        problems=_causes(card["faults"]),
        integrated=card["unified"],
        sensors=Sensors(**card["sensors"]),
        nvlink=card["nvlink"],
    )


def _bandwidth(name: str, total: int | None, whole: int | None, table: Table) -> Bandwidth | None:
    """The card's; of a slice the same share as of the memory, in eighths."""
    if whole is None or total is None:
        return table.of(name, total)
    card = table.of(name.partition(" MIG ")[0], whole)
    eighths = min(_SLICES, max(1, round(_SLICES * total / whole)))
    return card and replace(card, low_gbs=card.low_gbs * eighths / _SLICES, high_gbs=card.high_gbs * eighths / _SLICES)


def _jetson(host: Host, system: Memory, table: Table) -> Found | None:
    """A Jetson board by its own name, as NVIDIA's library is not there on older ones."""
    model = host.text(DEVICE_TREE).strip("\0 \n")
    if "jetson" not in model.lower() and not ("nvidia" in model.lower() and is_unified(model)):
        return None
    memory = Memory(MemoryKind.UNIFIED, system.total_bytes, system.available_bytes)
    return Found((Device("cuda0", "nvidia", model, memory, bandwidth=table.of(model), integrated=True),))


def _true_here(host: Host, problems: Sequence[Cause]) -> tuple[Cause, ...]:
    """No driver is no fault where there is no card: on Linux the bus tells, and which driver has the card instead."""
    if host.system != "Linux" or all(cause.code != LIBRARY_MISSING for cause in problems):
        return tuple(problems)
    return tuple(
        Cause("nvidia.no_driver", {"slot": card.slot, "driver": card.driver or "-"}) for card in cards(host, NVIDIA)
    )


def _causes(faults: Sequence[Mapping[str, Any]]) -> tuple[Cause, ...]:
    return tuple(Cause(str(fault["code"]), dict(fault["values"])) for fault in faults)


def _failed(code: str, **values: object) -> Found:
    return Found((), (Cause(code, values),))
