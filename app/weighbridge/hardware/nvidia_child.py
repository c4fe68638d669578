"""The parent's side of the NVIDIA probe: start the child, give it five seconds, read its line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.child import ask
from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge_engines.api import Cause

LIMIT_S = 5.0


@dataclass(frozen=True)
class Found:
    """The cards, and why there are none or not all."""

    devices: tuple[Device, ...] = ()
    problems: tuple[Cause, ...] = ()


def probe_argv(frozen: bool, executable: str) -> list[str]:
    """The command of the child; a frozen build knows itself by the hidden command `probe nvidia`."""
    if frozen:
        return [executable, "probe", "nvidia"]
    return [executable, "-P", "-m", "weighbridge.hardware.nvidia"]


def find_cards(system: Memory, table: Table, argv: Sequence[str] | None = None, limit_s: float = LIMIT_S) -> Found:
    """The NVIDIA cards of this machine. `system` is its memory, which a card with unified memory shares."""
    command = argv or probe_argv(bool(getattr(sys, "frozen", False)), sys.executable)
    try:
        answer = ask(command, limit_s)
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
        id=f"cuda{card['index']}",
        vendor="nvidia",
        name=name or "NVIDIA",
        memory=memory,
        driver=card["driver"],
        compute_capability=card["compute_capability"],
        pci_id=card["pci_id"],
        bandwidth=table.of(name, total) if name else None,
        problems=_causes(card["faults"]),
    )


def _causes(faults: Sequence[Mapping[str, Any]]) -> tuple[Cause, ...]:
    return tuple(Cause(str(fault["code"]), dict(fault["values"])) for fault in faults)


def _failed(code: str, **values: object) -> Found:
    return Found((), (Cause(code, values),))
