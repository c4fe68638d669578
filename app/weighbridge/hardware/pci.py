"""Graphics cards on the PCI bus, as Linux lists them in sysfs, whether or not a driver has them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weighbridge.hardware.host import Host
from weighbridge.hardware.machine import Sensors
from weighbridge_engines.api import Cause

FOLDER = "/sys/bus/pci/devices"
AMD, INTEL, NVIDIA = 0x1002, 0x8086, 0x10DE
_GRAPHICS_CLASSES = ("0x03", "0x12")
"""Display controllers, and processing accelerators, as which some server cards announce themselves."""

_SLOT = re.compile(r"(?:([0-9a-f]+):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?", re.IGNORECASE)


@dataclass(frozen=True)
class PciCard:
    """One card: its slot ("0000:03:00.0"), its numbers, the driver that has it, and its names among devices."""

    slot: str
    vendor: int
    device: int
    revision: int | None = None
    driver: str | None = None
    nodes: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Where sysfs keeps it."""
        return f"{FOLDER}/{self.slot}"

    @property
    def drm_folder(self) -> str | None:
        """Where its driver keeps values of the card as a display device."""
        card = next((node for node in self.nodes if node.startswith("card")), None)
        return card and f"{self.folder}/drm/{card}"

    @property
    def render_node(self) -> str | None:
        """The device file through which programs compute on it."""
        node = next((node for node in self.nodes if node.startswith("renderD")), None)
        return node and f"/dev/dri/{node}"


def cards(host: Host, vendor: int) -> list[PciCard]:
    """The graphics cards of one maker, in the order of their slots."""
    if host.system != "Linux":
        return []
    found = (_card(host, slot, vendor) for slot in host.names(FOLDER))
    return [card for card in found if card is not None]


def same_slot(slot: str | None) -> str | None:
    """A PCI address in one form: "00000000:01:00.0", "01:00.0" and "0000:01:00" are one place."""
    match = _SLOT.fullmatch(slot.strip()) if slot else None
    if match is None:
        return None
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{int(bus, 16):02x}:{int(device, 16):02x}.{function or '0'}"


def access_problem(host: Host, card: PciCard, name: str) -> Cause | None:
    """Why this user could not compute on a card that a driver has: None where nothing is in the way."""
    if card.render_node is None:
        return Cause("card.no_driver", {"name": name, "driver": card.driver or "-"})
    allowed = host.may_open(card.render_node)
    if allowed is None:
        return Cause("card.not_passed_on", {"name": name, "path": card.render_node})
    return None if allowed else Cause("card.no_permission", {"name": name, "path": card.render_node})


def sensors(host: Host, card: PciCard) -> Sensors:
    """Temperature (m°C in sysfs) and power (µW) as the driver's hwmon tells them; the kernel's "hwmon sysfs ABI"."""
    monitor = next(iter(host.names(f"{card.folder}/hwmon")), "")
    if not monitor:
        return Sensors()

    def read(*names: str) -> float | None:
        values = (number(host, f"{card.folder}/hwmon/{monitor}/{name}") for name in names)
        return next((value for value in values if value), None)

    temperature, power = read("temp1_input", "temp2_input"), read("power1_average", "power1_input")
    limit, default = read("power1_cap", "power1_max"), read("power1_cap_default", "power1_rated_max")
    busy = number(host, f"{card.folder}/gpu_busy_percent")
    return Sensors(
        temperature_c=None if temperature is None else temperature / 1e3,
        load=None if busy is None else busy / 100,
        power_w=None if power is None else power / 1e6,
        power_limit_w=None if limit is None else limit / 1e6,
        power_default_w=None if default is None else default / 1e6,
    )


def number(host: Host, path: str) -> int | None:
    """The whole number that a file of sysfs holds; None where it holds none."""
    text = host.text(path).strip()
    return int(text) if text.isdecimal() else None


def _card(host: Host, slot: str, vendor: int) -> PciCard | None:
    folder = f"{FOLDER}/{slot}"
    if _hex(host.text(f"{folder}/vendor")) != vendor or not host.text(f"{folder}/class").startswith(_GRAPHICS_CLASSES):
        return None
    device = _hex(host.text(f"{folder}/device"))
    if device is None:
        return None
    driver = re.search(r"^DRIVER=(\S+)$", host.text(f"{folder}/uevent"), re.MULTILINE)
    return PciCard(
        slot=slot,
        vendor=vendor,
        device=device,
        revision=_hex(host.text(f"{folder}/revision")),
        driver=driver[1] if driver else None,
        nodes=tuple(host.names(f"{folder}/drm")),
    )


def _hex(text: str) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None
