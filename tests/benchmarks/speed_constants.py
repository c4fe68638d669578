"""Makes the table of constants that ships, out of first values with their sources and of published measurements.

    python -m tests.benchmarks.speed_constants [OUT]

Reads `tests/data/speed_first.csv` and `tests/data/measured.csv`; writes the rows of `speed.csv`, by default where it
ships. The spread of a kind of device is what two of three rows are within when their machine is left out.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
from tests.benchmarks.speed_left_out import MEASURED, Predicted, first_tables, left_out, refitted, speed_of
from tests.benchmarks.speed_rows import read_rows

from weighbridge.estimates.speed.constants import Constants
from weighbridge_resources import path

TWO_OF_THREE, LEAST_SPREAD, LEAST_ROWS = 0.68, 0.08, 8
Key = tuple[str, str]


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else path("speed.csv")
    rows, first = read_rows(MEASURED), first_tables()
    table = refitted(first, [(row, speed_of(row, first)) for row in rows]).speeds
    offs = _offs(list(left_out(rows, ())))
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Constants)], lineterminator="\n")
        writer.writeheader()
        for key, constants in table.rows.items():
            writer.writerow(_line(_spread(constants, offs[key])))
    return 0


def _offs(predicted: Sequence[Predicted]) -> Mapping[Key, tuple[list[float], list[float]]]:
    """By how much decode and prefill were off, as logarithms, by kind of device."""
    found: dict[Key, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for each in predicted:
        decode, prefill = each.decode_off, each.prefill_off
        if each.speeds.decode is None or decode is None:
            continue
        constants = each.speeds.decode.legs[0].pace.constants
        both = found[constants.api, constants.generation]
        both[0].append(abs(np.log1p(decode)))
        both[1].extend([] if prefill is None else [abs(np.log1p(prefill))])
    return found


def _spread(constants: Constants, offs: tuple[list[float], list[float]]) -> Constants:
    decode, prefill = offs
    return replace(
        constants,
        spread=_wide(decode, constants.spread),
        prefill_spread=_wide(prefill, constants.prefill_spread),
    )


def _wide(offs: Sequence[float], otherwise: float) -> float:
    if len(offs) < LEAST_ROWS:
        return otherwise
    return max(LEAST_SPREAD, float(np.expm1(np.quantile(offs, TWO_OF_THREE))))


def _line(constants: Constants) -> dict[str, object]:
    return {name: _short(value) for name, value in asdict(constants).items()}


def _short(value: object) -> object:
    return f"{value:.3g}" if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
