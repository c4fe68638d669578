"""Names of cards by their PCI numbers, out of the lists that Linux systems keep."""

from __future__ import annotations

import re

from weighbridge.hardware.host import Host
from weighbridge.hardware.pci import PciCard

AMD_LIST = "/usr/share/libdrm/amdgpu.ids"
PCI_LISTS = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids")
_BRACKETS = re.compile(r"\[(.+)\]")


def amd_name(host: Host, card: PciCard) -> str | None:
    """The product by device and revision, as libdrm's list has it ("744C,\\tC8,\\tAMD Radeon RX 7900 XTX")."""
    for line in host.text(AMD_LIST).splitlines():
        device, _, rest = line.partition(",")
        revision, _, name = rest.partition(",")
        if _same(device, card.device) and _same(revision, card.revision) and name.strip():
            return name.strip()
    return None


def listed_name(host: Host, card: PciCard) -> str | None:
    """The product, or the family of products, by device alone: from the list of the PCI ID repository."""
    for path in PCI_LISTS:
        if name := _in_list(host.text(path), f"{card.vendor:04x}", f"{card.device:04x}"):
            return name
    return None


def _in_list(text: str, vendor: str, device: str) -> str | None:
    """In the list a maker stands at the start of a line, its devices below it behind one tab."""
    inside = False
    for line in text.splitlines():
        if line and line[0] not in "\t#":
            inside = line.startswith(vendor)
        elif inside and line.startswith(f"\t{device}"):
            name = line[5:].strip()
            brackets = _BRACKETS.search(name)
            return brackets[1] if brackets else name
    return None


def _same(text: str, number: int | None) -> bool:
    try:
        return int(text, 16) == number
    except ValueError:
        return False
