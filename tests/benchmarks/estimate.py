"""How long an estimate and a verdict take, for each model of a folder of headers.

    python -m tests.benchmarks.estimate [DIR]

Printed for each model, in microseconds and in the median: an estimate in system memory alone, one with a card, and a
verdict where the card is too small for the whole model, so that the best parts are looked for. Exits with 1 where an
estimate takes longer than its limit.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.benchmarks.fit_accuracy import Case, cases, digest

from weighbridge.estimates.estimate import HOST, Place, PlaceKind
from weighbridge.estimates.fit import fit
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.placement import reordered_types
from weighbridge.estimates.plan import Plan

GIB = 1 << 30
LIMIT_US = 200.0
REPEATS = 200
FIT_REPEATS = 10
DATA = Path(__file__).parents[1] / "data" / "fit_cases"
SYSTEM = Place(HOST, "", PlaceKind.HOST, 256 * GIB, 256 * GIB, reordered=reordered_types(("AVX2",)))


def card(size_bytes: int) -> Place:
    """A card with so much memory, all of it free."""
    return Place("card", "a card", PlaceKind.DEDICATED, size_bytes, size_bytes, api="cuda")


def median_us(act: Callable[[], object], repeats: int) -> float:
    """The time of one call, in the median."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        act()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1e6


def timed(case: Case) -> Mapping[str, float]:
    """The three times of a case's model."""
    known, plan = digest(case), Plan(context=8192)
    large, small = (SYSTEM, card(1024 * GIB)), (SYSTEM, card(case.head.size_bytes // 2 + GIB))
    return {
        "system": median_us(lambda: estimate(known, plan, (SYSTEM,)), REPEATS),
        "card": median_us(lambda: estimate(known, plan, large), REPEATS),
        "parts": median_us(lambda: fit(known, plan, small), FIT_REPEATS),
    }


def held(all_times: Sequence[Mapping[str, float]]) -> bool:
    """Whether each estimate keeps its limit; a verdict in parts is some estimates, and has none."""
    return all(times[name] <= LIMIT_US for times in all_times for name in ("system", "card"))


def main() -> int:
    """Print the table; 1 where an estimate takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", nargs="?", default=DATA)
    models = {case.name: case for case in cases(parser.parse_args().folder)}
    print(f"{'microseconds':24} {'system':>8} {'card':>8} {'in parts':>9}")
    all_times = []
    for name, case in models.items():
        all_times.append(times := timed(case))
        print(f"{name:24} {times['system']:8.0f} {times['card']:8.0f} {times['parts']:9.0f}", flush=True)
    print(f"limit for an estimate: {LIMIT_US:.0f}")
    return 0 if held(all_times) else 1


if __name__ == "__main__":
    sys.exit(main())
