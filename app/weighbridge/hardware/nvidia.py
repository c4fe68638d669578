"""NVIDIA cards, asked of the driver's own library through `pynvml`.

The library can hang with a sick driver, so the probe runs in a child (`python -m weighbridge.hardware.nvidia`, or the
hidden command `probe nvidia` of a frozen build) that prints one line of JSON. `look` is a pure function of an `Nvml`,
so that recorded answers try every failure. One card that fails never hides the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

NOT_SUPPORTED, NO_PERMISSION, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, MISMATCH = 3, 4, 9, 12, 18
LIBRARY_MISSING = "nvidia.library_missing"

_START_CODES: Mapping[int, str] = {
    NO_PERMISSION: "nvidia.no_permission",
    DRIVER_NOT_LOADED: "nvidia.driver_not_loaded",
    LIBRARY_NOT_FOUND: LIBRARY_MISSING,
    MISMATCH: "nvidia.driver_mismatch",
}
_UNIFIED_NAMES = ("gb10", "orin", "xavier", "thor", "tegra", "n1x")
"""Parts of names of chips that share one memory with the processor."""


class Nvml(Protocol):
    """What is asked of `pynvml`; handles and structures are the library's own."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None: ...  # noqa: N802 - the library's names
    def nvmlShutdown(self) -> None: ...  # noqa: N802
    def nvmlSystemGetDriverVersion(self) -> str: ...  # noqa: N802
    def nvmlDeviceGetCount(self) -> int: ...  # noqa: N802
    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any: ...  # noqa: N802
    def nvmlDeviceGetName(self, handle: Any) -> str: ...  # noqa: N802
    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any: ...  # noqa: N802
    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> tuple[int, int]: ...  # noqa: N802
    def nvmlDeviceGetPciInfo(self, handle: Any) -> Any: ...  # noqa: N802


Fault = dict[str, Any]
"""A code and the values of its sentence, as JSON."""


def look(nvml: Nvml) -> dict[str, Any]:
    """The cards and the faults, as JSON: {"cards": [...], "faults": [{"code", "values"}]}."""
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return {"cards": [], "faults": [_start_fault(error)]}
    try:
        return _cards(nvml)
    finally:
        _quiet(nvml, nvml.nvmlShutdown)


def _cards(nvml: Nvml) -> dict[str, Any]:
    driver, _ = _try(nvml, "driver", nvml.nvmlSystemGetDriverVersion)
    count, fault = _try(nvml, "count", nvml.nvmlDeviceGetCount)
    if fault is not None:
        return {"cards": [], "faults": [fault]}
    if not count:
        return {"cards": [], "faults": [{"code": "nvidia.no_card", "values": {"driver": _text(driver) or "?"}}]}
    cards: list[dict[str, Any]] = []
    faults: list[Fault] = []
    for index in range(count):
        handle, fault = _try(nvml, f"card {index}", partial(nvml.nvmlDeviceGetHandleByIndex, index))
        if fault is not None:
            faults.append({"code": "nvidia.card_lost", "values": {"index": index, **fault["values"]}})
        else:
            cards.append({"index": index, "driver": _text(driver), **_card(nvml, handle)})
    return {"cards": cards, "faults": faults}


def _card(nvml: Nvml, handle: Any) -> dict[str, Any]:
    name, name_fault = _try(nvml, "name", partial(nvml.nvmlDeviceGetName, handle))
    memory, memory_fault = _try(nvml, "memory", partial(nvml.nvmlDeviceGetMemoryInfo, handle))
    capability, _ = _try(nvml, "compute capability", partial(nvml.nvmlDeviceGetCudaComputeCapability, handle))
    pci, _ = _try(nvml, "PCI address", partial(nvml.nvmlDeviceGetPciInfo, handle))
    shown = _text(name)
    unified = _is_unified(shown)
    total, free = getattr(memory, "total", None), getattr(memory, "free", None)
    return {
        "name": shown,
        "unified": unified,
        "total_bytes": None if unified else total or None,
        "free_bytes": None if unified or not total else free,
        "compute_capability": f"{capability[0]}.{capability[1]}" if capability else None,
        "pci_id": _text(getattr(pci, "busId", None)),
        "faults": [fault for fault in (name_fault, None if unified else memory_fault) if fault is not None],
    }


def _is_unified(name: str | None) -> bool:
    words = (name or "").lower().replace("(", " ").split()
    return any(word.startswith(_UNIFIED_NAMES) for word in words)


def _try(nvml: Nvml, what: str, call: Callable[[], Any]) -> tuple[Any, Fault | None]:
    """The answer of `call`, or None and why there is none."""
    try:
        return call(), None
    except nvml.NVMLError as error:
        code = "nvidia.no_permission" if _number(error) == NO_PERMISSION else "nvidia.no_answer"
        return None, {"code": code, "values": {"what": what, "reason": str(error)}}
    except (ValueError, AttributeError, UnicodeDecodeError) as error:
        return None, {"code": "nvidia.no_answer", "values": {"what": what, "reason": str(error)}}


def _quiet(nvml: Nvml, call: Callable[[], None]) -> None:
    try:
        call()
    except nvml.NVMLError:
        return


def _start_fault(error: Exception) -> Fault:
    return {"code": _START_CODES.get(_number(error), "nvidia.no_start"), "values": {"reason": str(error)}}


def _number(error: Exception) -> int:
    number = getattr(error, "value", None)
    return number if isinstance(number, int) else -1


def _text(value: object) -> str | None:
    """Some versions of the library answer bytes."""
    shown = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value
    return shown if isinstance(shown, str) and shown else None


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
