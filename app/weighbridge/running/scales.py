"""What the supervisor weighs with: how much memory is free, and how much a load will take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weighbridge.estimates.simple import simple_memory
from weighbridge.hardware.memory import detect_memory
from weighbridge.library.model import Model
from weighbridge_engines.api import Load

ENGINE_BYTES = 160 << 20
"""What llama.cpp's process takes beside weights and cache.

68 to 150 MiB measured with 135M and 270M models on a CPU.
"""

SMALLEST_MARGIN_BYTES, MARGIN = 1 << 30, 0.05
"""Kept free at least: the larger of 1 GiB and 5 % of all memory, as llama.cpp keeps 1 GiB itself."""


@dataclass(frozen=True)
class Scales:
    """Both in bytes, None where unknown. They are asked from the supervisor's thread, at each decision."""

    available_bytes: Callable[[], int | None]
    need_bytes: Callable[[Model, Load], int | None]


def machine_scales() -> Scales:
    """This machine's memory, and the estimate of `estimates`."""
    return Scales(available_bytes, need_bytes)


def no_scales() -> Scales:
    """Nothing is known: one model at a time."""
    return Scales(lambda: None, lambda model, load: None)


def available_bytes() -> int | None:
    """Free memory now, less the margin; None where the system does not tell."""
    memory = detect_memory()
    if memory.available_bytes is None:
        return None
    margin = max(SMALLEST_MARGIN_BYTES, int((memory.total_bytes or 0) * MARGIN))
    return max(0, memory.available_bytes - margin)


def need_bytes(model: Model, load: Load) -> int | None:
    """Weights, cache at the load's context and the engine; None where the model's cache is not understood yet."""
    if load.context is None:
        return None
    total = simple_memory(model.info, model.size_bytes, load.context).total_bytes
    return None if total is None else total + ENGINE_BYTES
