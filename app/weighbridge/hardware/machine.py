"""The machine as immutable values. None is unknown, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from weighbridge_engines.api import Cause


class MemoryKind(StrEnum):
    """Whose memory it is: a card's own, one pool for card and processor, or the system's, borrowed by a small card."""

    DEDICATED = "dedicated"
    UNIFIED = "unified"
    SHARED = "shared"


class Basis(StrEnum):
    """Where a limit comes from: told by the system or an engine, set by the user, or estimated by us."""

    TOLD = "told"
    SET = "set"
    ESTIMATE = "estimate"


@dataclass(frozen=True)
class Memory:
    """Memory in bytes, and how much of it could be used now.

    `usable_bytes` is what the graphics part may take of it, where that is less than the total; None: all of it.
    """

    kind: MemoryKind
    total_bytes: int | None
    available_bytes: int | None
    usable_bytes: int | None = None
    usable_basis: Basis | None = None


@dataclass(frozen=True)
class Bandwidth:
    """Memory bandwidth in GB/s (1e9 bytes a second): one figure, or a range where a name stands for several products.

    Published by `source`, unless `measured_on` says on which day it was measured here (ISO 8601).
    """

    low_gbs: float
    high_gbs: float
    source: str
    measured_on: str | None = None

    @property
    def gbs(self) -> float | None:
        """The figure, or None where it is a range."""
        return self.low_gbs if self.low_gbs == self.high_gbs else None


VENDORS: Mapping[str, str] = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel", "apple": "Apple"}
"""What the makers of cards are called, by `Device.vendor`."""


@dataclass(frozen=True)
class Cpu:
    """The processor. `usable_cores` is what this process may use: container limit and affinity are respected.

    `numa_nodes` counts the groups of cores that have memory of their own near them.
    """

    name: str | None
    physical_cores: int | None
    logical_cores: int | None
    usable_cores: int | None
    extensions: tuple[str, ...] = ()
    numa_nodes: int | None = None


@dataclass(frozen=True)
class Sensors:
    """What a card tells of itself at this moment. `load` is 0 to 1; power in watts; None where it does not tell."""

    temperature_c: float | None = None
    load: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    power_default_w: float | None = None


@dataclass(frozen=True)
class Sight:
    """One way in which a device is seen: by an engine, under a name of its own."""

    engine: str
    id: str


@dataclass(frozen=True)
class Device:
    """A graphics card, one slice of a divided card, or the graphics part of a processor.

    `memory` is the pool it works in. `also` is a second pool of another kind, such as system memory that it may borrow:
    the two are never added up. `pci_id` tells one card seen in two ways; `seen_by` are the engines that can use it.
    `problems` are the questions it left open. `gpu_cores` tells which of Apple's chips of one name it is. `nvlink` is
    True where NVLink joins it to every other card of NVIDIA here, False where to none; None is some, or unknown.
    """

    id: str
    vendor: str
    name: str
    memory: Memory
    driver: str | None = None
    compute_capability: str | None = None
    pci_id: str | None = None
    bandwidth: Bandwidth | None = None
    problems: tuple[Cause, ...] = ()
    integrated: bool = False
    also: Memory | None = None
    sensors: Sensors = Sensors()
    seen_by: tuple[Sight, ...] = ()
    gpu_cores: int | None = None
    nvlink: bool | None = None


@dataclass(frozen=True)
class Machine:
    """All of it. `memory` is the system's, container limit respected; `problems` are the probes that failed and why.

    `bandwidth` is the system memory's. `within` says what stands between us and the hardware: "wsl", "container",
    "virtual".
    """

    system: str
    cpu: Cpu
    memory: Memory
    devices: tuple[Device, ...] = ()
    problems: tuple[Cause, ...] = ()
    bandwidth: Bandwidth | None = None
    within: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """What a probe of one maker found: the devices, and why there are none or not all."""

    devices: tuple[Device, ...] = ()
    problems: tuple[Cause, ...] = ()
