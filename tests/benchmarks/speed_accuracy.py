"""How near calculated speeds come to published ones, each machine predicted without its own measurements.

    python -m tests.benchmarks.speed_accuracy CSV

CSV has the columns of `tests/data/measured.csv`. What is fitted is fitted anew for each machine, to all rows of that
file and of CSV but those of the same card or chip, however many of them there were. Printed for decode and prefill:
median and 90th percentile of the error, and the share of rows within 25 %, over all, by family, without and with
experts. Exits with 1 where the median of decode is over 14 %, or fewer than 68 % of rows are within 25 %. A row for
which nothing can be calculated counts as off by 100 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tests.benchmarks.speed_left_out import MEASURED, Predicted, left_out, shipped_tables, speed_of
from tests.benchmarks.speed_rows import Row, read_rows

MEDIAN, WITHIN, SHARE = 0.14, 0.25, 0.68
NOTHING = -1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="CSV")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="also print the N rows that are farthest off")
    arguments = parser.parse_args()
    rows = read_rows(arguments.file)
    others = [row for row in read_rows(MEASURED) if row.id not in {row.id for row in rows}]
    predicted = list(left_out(rows, others))
    print("each machine left out:")
    held = _print_all(predicted)
    print("\nthe constants that ship, which saw these rows if they are our own:")
    shipped = shipped_tables()
    _print_all([Predicted(row, speed_of(row, shipped)) for row in rows])
    for each in sorted(predicted, key=lambda one: abs(_decode(one)), reverse=True)[: arguments.worst]:
        print(
            f"{_decode(each):+8.0%}  {each.row.hardware}  {each.row.backend}  {each.row.model}  {each.row.decode_tps}"
        )
    return 0 if held else 1


def _print_all(predicted: Sequence[Predicted]) -> bool:
    print(f"{'':22}{'rows':>6}{'median':>9}{'p90':>9}{'in 25 %':>9}   {'rows':>6}{'median':>9}{'p90':>9}{'in 25 %':>9}")
    print(f"{'':22}{'decode':>33}   {'prefill':>33}")
    held = _print_group("all", predicted, lambda row: True)
    for family in dict.fromkeys(each.row.family for each in predicted):
        _print_group(family, predicted, lambda row, family=family: row.family == family)
    _print_group("without experts", predicted, lambda row: not row.mixed)
    _print_group("with experts", predicted, lambda row: row.mixed)
    return held


def _print_group(name: str, predicted: Sequence[Predicted], belongs: Callable[[Row], bool]) -> bool:
    chosen = [each for each in predicted if belongs(each.row)]
    decode = [_decode(each) for each in chosen]
    prefill = [off for each in chosen if (off := each.prefill_off) is not None]
    print(f"{name:22}{_figures(decode)}   {_figures(prefill)}")
    off = np.abs(decode)
    return not decode or bool(np.median(off) <= MEDIAN and np.mean(off <= WITHIN) >= SHARE)


def _decode(one: Predicted) -> float:
    off = one.decode_off
    return NOTHING if off is None else off


def _figures(offs: Sequence[float]) -> str:
    if not offs:
        return f"{0:6}{'-':>9}{'-':>9}{'-':>9}"
    off = np.abs(offs)
    return f"{len(offs):6}{np.median(off):9.1%}{np.quantile(off, 0.9):9.1%}{np.mean(off <= WITHIN):9.1%}"


if __name__ == "__main__":
    sys.exit(main())
