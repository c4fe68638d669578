"""How fast one place works: its bandwidth, its compute, and the constants of its kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from weighbridge.estimates.speed.constants import Constants


@dataclass(frozen=True)
class Pace:
    """What speed rests on in one place, a memory with what computes in it.

    `low_gbs` and `high_gbs` are its bandwidth in GB/s (1e9 bytes a second), the same where it is one figure; `measured`
    says that it was measured on this machine. `tflops` is the half-precision rate as published, None where unknown.
    `slow_types` is the share of its usual speed at which it reads weights of some types, by the start of their names.
    `parameters_per_s` and `scores_per_s` are what a processor's threads can compute of one token, where
    that may be less than its memory gives.
    """

    place: str
    name: str
    low_gbs: float
    high_gbs: float
    constants: Constants
    tflops: float | None = None
    slow_types: Mapping[str, float] = field(default_factory=dict)
    measured: bool = False
    parameters_per_s: float | None = None
    scores_per_s: float | None = None

    @property
    def mid_gbs(self) -> float:
        """The middle of the range."""
        return math.sqrt(self.low_gbs * self.high_gbs)

    def type_factor(self, type_name: str | None) -> float:
        """What the speed of reading is to be multiplied with for weights of this type; mostly 1."""
        name = (type_name or "").upper()
        found = [(len(start), factor) for start, factor in self.slow_types.items() if name.startswith(start)]
        return max(found, default=(0, 1.0))[1]
