"""The constants of speed: how well a kind of device streams, and what starting a layer costs it. Read from a table.

A row holds for one way to reach a device ("cuda", "metal", ..., "cpu", "mlx", "exl") and one generation of chips; the
row without a generation stands for those that have none of their own. `speed.csv` says where each is from;
`python -m tests.benchmarks.speed_constants` makes it anew from measurements.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge_resources import path


@dataclass(frozen=True)
class Constants:
    """One row. `streaming` and `cache_streaming` are shares of the bandwidth that reading weights and cache reach, the
    latter with flash attention; `latent_streaming` that of a cache of compressed attention.

    `layer_us` and `mixed_layer_us` are what each layer costs whatever its size, without and with experts. A prompt is
    read at `prefill_share` of the published half-precision rate, with experts at `mixed_prefill_share` of that, its
    attention at `attention_share` of that. `spread` and `prefill_spread` are how far two of three machines of this kind
    lie from the middle, as shares of it. `rows` measurements stand behind it.
    """

    api: str
    generation: str
    streaming: float
    layer_us: float
    mixed_layer_us: float
    cache_streaming: float
    latent_streaming: float
    prefill_share: float
    mixed_prefill_share: float
    attention_share: float
    spread: float
    prefill_spread: float
    rows: int
    source: str


@dataclass(frozen=True)
class Table:
    """All rows, and at what share of the usual speed some types of weights are read, by api and type."""

    rows: Mapping[tuple[str, str], Constants]
    types: Mapping[tuple[str, str], float]

    def of(self, api: str, generation: str | None) -> Constants | None:
        """The row for a device; that of its api where its generation has none; None where even the api is unknown."""
        return self.rows.get((api, generation or "")) or self.rows.get((api, ""))

    def slow_types(self, api: str) -> dict[str, float]:
        """The types of weights, by the start of their names, that are read slower by this api, and at what share."""
        return {start: factor for (one, start), factor in self.types.items() if one == api}


def load_constants(constants: Path | None = None, types: Path | None = None) -> Table:
    """The tables that ship with the program, or others of the same form."""
    with (constants or path("speed.csv")).open(encoding="utf-8", newline="") as lines:
        rows = _rows(csv.DictReader(lines))
    with (types or path("speed_types.csv")).open(encoding="utf-8", newline="") as lines:
        factors = {(row["api"], row["type"]): float(row["factor"]) for row in csv.DictReader(lines)}
    return Table(rows, factors)


def _rows(lines: Iterable[dict[str, str]]) -> dict[tuple[str, str], Constants]:
    rows = (
        Constants(
            api=line["api"],
            generation=line["generation"],
            streaming=float(line["streaming"]),
            layer_us=float(line["layer_us"]),
            mixed_layer_us=float(line["mixed_layer_us"]),
            cache_streaming=float(line["cache_streaming"]),
            latent_streaming=float(line["latent_streaming"]),
            prefill_share=float(line["prefill_share"]),
            mixed_prefill_share=float(line["mixed_prefill_share"]),
            attention_share=float(line["attention_share"]),
            spread=float(line["spread"]),
            prefill_spread=float(line["prefill_spread"]),
            rows=int(line["rows"]),
            source=line["source"],
        )
        for line in lines
    )
    return {(row.api, row.generation): row for row in rows}
