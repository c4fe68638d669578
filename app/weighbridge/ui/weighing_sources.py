"""What weighing asks: given once, where the program is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from weighbridge.choices.blueprints import Blueprints
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.devices import Told
from weighbridge.running.observations import Observation
from weighbridge.running.parts import Parts
from weighbridge.running.sizing import Sizing
from weighbridge.running.state import Running
from weighbridge.ui.speedometers import Speedometers
from weighbridge_engines.api import Engine, Load


@dataclass(frozen=True)
class Sources:
    """All may be called from the GUI thread but `past` and `sizing`, which wait.

    `told` is None while engines have not said yet which cards they use, `sizing` where no engine is to be asked.
    """

    blueprints: Blueprints
    engines: Mapping[str, Engine]
    machine: Callable[[], Machine | None]
    told: Callable[[], Sequence[Told] | None]
    running: Callable[[], tuple[Running, ...]]
    default_load: Callable[[Model], Load]
    context: Callable[[], int]
    past: Callable[[], tuple[Observation, ...]]
    speeds: Speedometers
    sizing: Sizing | None = None
    parts: Parts = field(default_factory=Parts)
