"""Product names of AMD cards from AMD's own library `amdsmi`, where it can be imported: it comes with ROCm.

It is asked only for cards that no list on the system names, in a child (`python -m weighbridge.hardware.amd_smi`) that
prints one line of JSON: names by PCI address. `look` is a pure function of the library.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from weighbridge.hardware.host import Host
from weighbridge.hardware.pci import same_slot

LIMIT_S = 3.0
ARGV: Sequence[str] = (sys.executable, "-P", "-m", "weighbridge.hardware.amd_smi")


class Smi(Protocol):
    """What is asked of the library; handles are its own."""

    AmdSmiException: type[Exception]

    def amdsmi_init(self) -> None: ...
    def amdsmi_shut_down(self) -> None: ...
    def amdsmi_get_processor_handles(self) -> list[Any]: ...
    def amdsmi_get_gpu_device_bdf(self, handle: Any) -> str: ...
    def amdsmi_get_gpu_asic_info(self, handle: Any) -> dict[str, Any]: ...


def look(smi: Smi) -> dict[str, str]:
    """The cards' names by their PCI addresses; cards that do not tell are left out."""
    names: dict[str, str] = {}
    try:
        smi.amdsmi_init()
        for handle in smi.amdsmi_get_processor_handles():
            slot, name = _card(smi, handle)
            if slot and name:
                names[slot] = name
        smi.amdsmi_shut_down()
    except smi.AmdSmiException:
        return names
    return names


def told_names(host: Host) -> dict[str, str]:
    """What the child tells; nothing where the library is not there, hangs or breaks, or this build lacks Python."""
    if getattr(sys, "frozen", False):
        return {}
    try:
        lines = host.ask(ARGV, LIMIT_S).out.strip().splitlines()
        told = json.loads(lines[-1] if lines else "{}")
    except (OSError, ValueError):
        return {}
    return {str(slot): str(name) for slot, name in told.items()} if isinstance(told, dict) else {}


def _card(smi: Smi, handle: Any) -> tuple[str | None, str | None]:
    try:
        slot = same_slot(smi.amdsmi_get_gpu_device_bdf(handle))
        name = smi.amdsmi_get_gpu_asic_info(handle).get("market_name")
    except smi.AmdSmiException:
        return None, None
    return slot, str(name).strip() if name and name != "N/A" else None


def main() -> int:
    """The child's side."""
    try:
        import amdsmi
    except (ImportError, OSError, KeyError):  # it raises KeyError where ROCm's folder is not told
        names: dict[str, str] = {}
    else:
        names = look(amdsmi)
    sys.stdout.write(json.dumps(names) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
