"""Ways of doing the same that take turns, so that what disturbs the machine disturbs them alike."""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path

from weighbridge.library.index import Library
from weighbridge.library.model import Model
from weighbridge_engines.api import Load

BARE = "bare"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What each comparison can be told."""
    parser.add_argument("--turns", type=int, default=7, help="turns that count (%(default)s), after one that warms up")
    parser.add_argument("--tokens", type=int, default=200, help="the length of each answer (%(default)s)")


def model_at(path: Path) -> Model:
    """The model whose file this is, as the Library sees it."""
    library = Library([path.parent])
    library.scan()
    return next(model for model in library.models if model.path == path)


def take_turns(ways: Mapping[str, Callable[[], float]], turns: int) -> dict[str, list[float]]:
    """The speeds of each way; who begins changes from turn to turn. The first turn warms up, and is left out."""
    rows: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number in range(turns + 1):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            tps = ways[name]()
            if number:
                rows[name].append(tps)
    return rows


def report(rows: Mapping[str, list[float]], tokens: int, load: Load) -> None:
    """Print speeds, and ratios to BARE, turn by turn."""
    turns = len(rows[BARE])
    machine = f"load {os.getloadavg()[0]:.1f}"
    print(f"{turns} turns of {tokens} tokens, threads {load.threads}, batch {load.batch}, {machine}")
    for name, values in rows.items():
        ratios = [value / base for value, base in zip(values, rows[BARE], strict=True)]
        print(
            f"{name}: median {statistics.median(values):.1f} tok/s ({min(values):.1f} to {max(values):.1f}),"
            f" ratio to bare median {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        )
