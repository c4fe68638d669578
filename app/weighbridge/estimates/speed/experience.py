"""A speed put right by what ran on this machine. Pure.

Every run here was calculated too, with the constants of the table. The logarithm of measured over calculated is what
the machine is better or worse by; the mean of it, drawn towards 0 as by `PRIOR` runs that came out as calculated, holds
for all models on the same engine and devices. Runs of models of the other kind (with or without experts) say less.
Where the very same load ran, its own figure stands, carried to another depth by the ratio of the calculated ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from weighbridge.estimates.speed.speed import Speed, SpeedBasis

PRIOR = 0.4
OTHER_KIND = 0.3
"""Both were chosen on published measurements: `python -m tests.benchmarks.calibration`."""

FARTHEST = 1.0
"""A run that is off by more than e to this counts as off by so much: something else went on."""

KNOWN_SPREAD = 0.6
"""What is left of the spread once the machine has shown its own speed."""

MEASURED_SPREAD = 0.03
"""How far two runs of one model lie apart on a quiet machine."""

NEWEST = 5


@dataclass(frozen=True)
class Run:
    """One run on the same engine and devices: tokens a second as measured, and as calculated for the same depth.

    `mixed`: the model has experts. `same`: it is the very model, loaded in the very same way.
    """

    measured_tps: float
    calculated_tps: float
    mixed: bool = False
    same: bool = False


def experienced(speed: Speed, mixed: bool, runs: Sequence[Run]) -> Speed:
    """`speed` after `runs`, the newest first; `mixed`: it is that of a model with experts."""
    if not runs:
        return speed
    own = [run.measured_tps / run.calculated_tps for run in runs if run.same][:NEWEST]
    if own:
        measured = speed.times(median(own), MEASURED_SPREAD)
        return replace(measured, basis=SpeedBasis.MEASURED, runs=len(own))
    spread = math.sqrt(speed.high_tps / speed.low_tps) - 1
    corrected = speed.times(factor(mixed, runs), spread * KNOWN_SPREAD)
    return replace(corrected, basis=SpeedBasis.CORRECTED, runs=len(runs))


def measured_alone(runs: Sequence[tuple[float, int]]) -> Speed | None:
    """The speed of a load by its own `runs`, the newest first, where nothing can be calculated: each is tokens a second
    and the depth that it was for. None where there is none.
    """
    newest = runs[:NEWEST]
    if not newest:
        return None
    mid, depth = median(tps for tps, _ in newest), int(median(depth for _, depth in newest))
    whole = Speed(mid, mid, mid, depth, SpeedBasis.MEASURED, runs=len(newest))
    return whole.times(1.0, MEASURED_SPREAD)


def factor(mixed: bool, runs: Sequence[Run]) -> float:
    """What the calculated speed of a model is to be multiplied with."""
    weights = [1.0 if run.mixed is mixed else OTHER_KIND for run in runs]
    offs = [max(-FARTHEST, min(FARTHEST, math.log(run.measured_tps / run.calculated_tps))) for run in runs]
    return math.exp(sum(map(lambda weight, off: weight * off, weights, offs)) / (sum(weights) + PRIOR))
