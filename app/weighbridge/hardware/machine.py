"""The machine as immutable values. None is unknown, never 0."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from weighbridge_engines.api import Cause


class MemoryKind(StrEnum):
    """Whose memory it is: a card's own, one pool for card and processor, or the system's, borrowed by a small card."""

    DEDICATED = "dedicated"
    UNIFIED = "unified"
    SHARED = "shared"


@dataclass(frozen=True)
class Memory:
    """Memory in bytes, and how much of it could be used now."""

    kind: MemoryKind
    total_bytes: int | None
    available_bytes: int | None


@dataclass(frozen=True)
class Bandwidth:
    """Published memory bandwidth in GB/s (1e9 bytes a second): one figure, or a range where a name has several."""

    low_gbs: float
    high_gbs: float
    source: str

    @property
    def gbs(self) -> float | None:
        """The figure, or None where it is a range."""
        return self.low_gbs if self.low_gbs == self.high_gbs else None


@dataclass(frozen=True)
class Cpu:
    """The processor. `usable_cores` is what this process may use: container limit and affinity are respected."""

    name: str | None
    physical_cores: int | None
    logical_cores: int | None
    usable_cores: int | None
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Device:
    """A graphics card. `problems` are the questions it left open; `pci_id` tells one card seen in two ways."""

    id: str
    vendor: str
    name: str
    memory: Memory
    driver: str | None = None
    compute_capability: str | None = None
    pci_id: str | None = None
    bandwidth: Bandwidth | None = None
    problems: tuple[Cause, ...] = ()


@dataclass(frozen=True)
class Machine:
    """All of it. `memory` is the system's, container limit respected; `problems` are the probes that failed and why."""

    system: str
    cpu: Cpu
    memory: Memory
    devices: tuple[Device, ...] = ()
    problems: tuple[Cause, ...] = ()
