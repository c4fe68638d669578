"""What one run on a machine teaches of its others: published speeds, each given in turn, the others predicted.

    python -m tests.benchmarks.calibration CSV

A machine is a hardware with a backend; those with four or more rows count. The constants never saw its card or chip.
Exits with 1 where the median error of decode after one run is over 12 %, or the 90th percentile over 45 %.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from tests.benchmarks.speed_left_out import MEASURED, Predicted, left_out
from tests.benchmarks.speed_rows import read_rows

from weighbridge.estimates.speed.experience import Run, experienced

LEAST_ROWS, MEDIAN, HIGH = 4, 0.12, 0.45


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="CSV")
    rows = read_rows(parser.parse_args().file)
    others = [row for row in read_rows(MEASURED) if row.id not in {row.id for row in rows}]
    machines: dict[tuple[str, str], list[Predicted]] = defaultdict(list)
    for each in left_out(rows, others):
        if each.speeds.decode is not None:
            machines[each.row.hardware, each.row.backend].append(each)
    before: list[float] = []
    after: list[float] = []
    print(f"{'rows':>5}{'before':>9}{'after':>9}  machine (median error)")
    for (hardware, backend), known in machines.items():
        if len(known) < LEAST_ROWS:
            continue
        plain = [abs(each.decode_off or 0.0) for each in known]
        taught = list(_taught(known))
        before += plain
        after += taught
        print(f"{len(known):5}{np.median(plain):9.1%}{np.median(taught):9.1%}  {hardware}, {backend}")
    median, high = float(np.median(after)), float(np.quantile(after, 0.9))
    print(f"before: median {np.median(before):.1%}, 90th percentile {np.quantile(before, 0.9):.1%}")
    print(f"after one run: median {median:.1%} (12 %), 90th percentile {high:.1%} (45 %), {len(after)} predictions")
    return 0 if median <= MEDIAN and high <= HIGH else 1


def _taught(known: Sequence[Predicted]) -> Iterator[float]:
    """The error of each row after each other one ran."""
    for given in known:
        for each in known:
            if each is given or each.speeds.decode is None or given.speeds.decode is None:
                continue
            run = Run(given.row.decode_tps, given.speeds.decode.mid_tps, given.row.mixed)
            speed = experienced(each.speeds.decode, each.row.mixed, [run])
            yield abs(speed.mid_tps / each.row.decode_tps - 1)


if __name__ == "__main__":
    sys.exit(main())
