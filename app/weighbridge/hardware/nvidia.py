"""NVIDIA cards, asked of the driver's own library through `pynvml`.

The library can hang with a sick driver, so the probe runs in a child (`python -m weighbridge.hardware.nvidia`, or the
hidden command `probe nvidia` of a frozen build) that prints one line of JSON. `look` is a pure function of an `Nvml`,
so that recorded answers try every failure. One card that fails never hides the others.

A card that is divided (MIG) is shown as its slices alone: their memory is the card's, so the card itself would count it
twice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from weighbridge.hardware.nvml import LIBRARY_MISSING, Fault, Nvml, say, start, text, whole

_UNIFIED_NAMES = ("gb10", "orin", "xavier", "thor", "tegra", "n1x")
"""Parts of names of chips that share one memory with the processor."""
_TEMPERATURE_OF_GPU = 0
_BY_NVLINK, _OK, _UNKNOWN = 2, 0, 6
"""NVML_P2P_CAPS_INDEX_NVLINK, NVML_P2P_STATUS_OK and NVML_P2P_STATUS_UNKNOWN."""


def look(nvml: Nvml) -> dict[str, Any]:
    """The cards and the faults, as JSON: {"cards": [...], "faults": [{"code", "values"}]}."""
    fault = start(nvml)
    if fault is not None:
        return {"cards": [], "faults": [fault]}
    try:
        return _cards(nvml)
    finally:
        say(nvml, "end", "nvmlShutdown")


def _cards(nvml: Nvml) -> dict[str, Any]:
    driver = text(say(nvml, "driver", "nvmlSystemGetDriverVersion")[0])
    count, fault = say(nvml, "count", "nvmlDeviceGetCount")
    if fault is not None:
        return {"cards": [], "faults": [fault]}
    if not count:
        return {"cards": [], "faults": [{"code": "nvidia.no_card", "values": {"driver": driver or "?"}}]}
    cards: list[dict[str, Any]] = []
    whole_cards: list[tuple[Any, dict[str, Any]]] = []
    faults: list[Fault] = []
    for index in range(count):
        handle, fault = say(nvml, f"card {index}", "nvmlDeviceGetHandleByIndex", index)
        if fault is not None:
            faults.append({"code": "nvidia.card_lost", "values": {"index": index, **fault["values"]}})
            continue
        card = {"id": f"cuda{index}", "driver": driver, "slice_of_bytes": None, "nvlink": None, **_card(nvml, handle)}
        slices = _slices(nvml, handle, card)
        if slices is None:
            whole_cards.append((handle, card))
            cards.append(card)
        elif slices:
            cards += slices
        else:
            faults.append({"code": "nvidia.mig_empty", "values": {"name": card["name"] or "NVIDIA"}})
    for handle, card in whole_cards if len(whole_cards) == count else ():
        card["nvlink"] = _joined(_link(nvml, handle, other) for other, _ in whole_cards if other is not handle)
    return {"cards": cards, "faults": faults}


def _link(nvml: Nvml, handle: Any, other: Any) -> bool | None:
    """Whether two cards reach each other over NVLink, directly or through a switch; None where nobody tells."""
    status = whole(say(nvml, "NVLink", "nvmlDeviceGetP2PStatus", handle, other, _BY_NVLINK)[0])
    return None if status in (None, _UNKNOWN) else status == _OK


def _joined(links: Iterable[bool | None]) -> bool | None:
    """True where all are, False where none is; None for one card, for some of several, and where one is unknown."""
    told = set(links)
    return told.pop() if len(told) == 1 else None


def _slices(nvml: Nvml, handle: Any, card: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The slices of a divided card; None where the card is whole."""
    mode, _ = say(nvml, "MIG mode", "nvmlDeviceGetMigMode", handle)
    if not mode or not mode[0]:
        return None
    most, _ = say(nvml, "MIG count", "nvmlDeviceGetMaxMigDeviceCount", handle)
    slices = []
    for index in range(most or 0):
        part, fault = say(nvml, f"slice {index}", "nvmlDeviceGetMigDeviceHandleByIndex", handle, index)
        if fault is None:  # the places that are not taken answer "not found"
            of_card = {name: card[name] for name in ("driver", "compute_capability", "pci_id")}
            own = {**_card(nvml, part), **of_card, "sensors": {}, "nvlink": None}
            slices.append({"id": f"{card['id']}.{index}", "slice_of_bytes": card["total_bytes"], **own})
    return slices


def _card(nvml: Nvml, handle: Any) -> dict[str, Any]:
    name, name_fault = say(nvml, "name", "nvmlDeviceGetName", handle)
    memory, memory_fault = say(nvml, "memory", "nvmlDeviceGetMemoryInfo", handle)
    capability, _ = say(nvml, "compute capability", "nvmlDeviceGetCudaComputeCapability", handle)
    pci, _ = say(nvml, "PCI address", "nvmlDeviceGetPciInfo", handle)
    shown = text(name)
    unified = is_unified(shown)
    total, free = whole(getattr(memory, "total", None)), whole(getattr(memory, "free", None))
    return {
        "name": shown,
        "unified": unified,
        "total_bytes": None if unified else total or None,
        "free_bytes": None if unified or not total else free,
        "compute_capability": f"{capability[0]}.{capability[1]}" if capability else None,
        "pci_id": text(getattr(pci, "busId", None)),
        "sensors": _sensors(nvml, handle),
        "faults": [fault for fault in (name_fault, None if unified else memory_fault) if fault is not None],
    }


def is_unified(name: str | None) -> bool:
    """Whether the chip of this name shares one memory with the processor."""
    words = (name or "").lower().replace("(", " ").split()
    return any(word.startswith(_UNIFIED_NAMES) for word in words)


def _sensors(nvml: Nvml, handle: Any) -> dict[str, float | None]:
    """The library tells power in milliwatts and load in percent."""
    temperature, _ = say(nvml, "temperature", "nvmlDeviceGetTemperature", handle, _TEMPERATURE_OF_GPU)
    rates, _ = say(nvml, "load", "nvmlDeviceGetUtilizationRates", handle)
    load = whole(getattr(rates, "gpu", None))
    return {
        "temperature_c": whole(temperature),
        "load": None if load is None else load / 100,
        "power_w": _watts(nvml, handle, "nvmlDeviceGetPowerUsage"),
        "power_limit_w": _watts(nvml, handle, "nvmlDeviceGetPowerManagementLimit"),
        "power_default_w": _watts(nvml, handle, "nvmlDeviceGetPowerManagementDefaultLimit"),
    }


def _watts(nvml: Nvml, handle: Any, call: str) -> float | None:
    milliwatts = whole(say(nvml, "power", call, handle)[0])
    return milliwatts / 1000 if milliwatts else None


def main() -> int:
    """Look at the cards and print one line of JSON: the child's side."""
    try:
        import pynvml
    except (ImportError, OSError) as error:
        found: dict[str, Any] = {"cards": [], "faults": [{"code": LIBRARY_MISSING, "values": {"reason": str(error)}}]}
    else:
        found = look(pynvml)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
