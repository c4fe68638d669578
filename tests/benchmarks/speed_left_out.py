"""Published speeds predicted by the program's own functions, with constants that never saw the machine in question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from tests.benchmarks.speed_fit import Token, fitted
from tests.benchmarks.speed_rows import Row

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import PlaceKind
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.speed.constants import Constants, Table, load_constants
from weighbridge.estimates.speed.decode import WITHOUT_FLASH
from weighbridge.estimates.speed.speed import Leg
from weighbridge.estimates.speed.speeds import Speeds, speeds
from weighbridge.hardware.bandwidth import load_table
from weighbridge.running.paces import SpeedTables, paces_for
from weighbridge.running.places import places_for

DATA = Path(__file__).parents[1] / "data"
FIRST, MEASURED = DATA / "speed_first.csv", DATA / "measured.csv"
USABLE = 0.94
"""Of a card's memory, what a model may take of it: the rest holds buffers and the screen."""


@dataclass(frozen=True)
class Predicted:
    """One row, and what was calculated for it."""

    row: Row
    speeds: Speeds

    @property
    def decode_off(self) -> float | None:
        """Calculated over measured, less 1; None where nothing was calculated."""
        return None if self.speeds.decode is None else self.speeds.decode.mid_tps / self.row.decode_tps - 1

    @property
    def prefill_off(self) -> float | None:
        """The same of the prompt."""
        if self.speeds.prefill is None or not self.row.prefill_tps:
            return None
        return self.speeds.prefill.mid_tps / self.row.prefill_tps - 1


def first_tables() -> SpeedTables:
    """The constants before anything was fitted."""
    return SpeedTables(load_constants(FIRST), load_table())


def shipped_tables() -> SpeedTables:
    """Those that ship."""
    return SpeedTables(load_constants(), load_table())


def left_out(rows: Sequence[Row], others: Sequence[Row]) -> Iterator[Predicted]:
    """Each of `rows` by constants fitted to all of `rows` and `others` but those of its own machine."""
    first = first_tables()
    known = [(row, speed_of(row, first)) for row in (*rows, *others)]
    for machine in dict.fromkeys(row.group for row in rows):
        own = [row for row in rows if row.group == machine]
        needed = {key for row in own for key in _keys(speed_of(row, first))}
        rest = [(row, speed) for row, speed in known if row.group != machine]
        tables = refitted(first, rest, needed)
        yield from (Predicted(row, speed_of(row, tables)) for row in own)


def refitted(
    first: SpeedTables, known: Sequence[tuple[Row, Speeds]], only: set[tuple[str, str]] | None = None
) -> SpeedTables:
    """`first` put right by rows and what it makes of them; `only` these kinds of devices, or all."""
    kinds = first.speeds.rows if only is None else [key for key in first.speeds.rows if key in only]
    found = {key: _fitted(first.speeds.rows[key], known) for key in kinds}
    return SpeedTables(Table({**first.speeds.rows, **found}, first.speeds.types), first.cards)


def speed_of(row: Row, tables: SpeedTables) -> Speeds:
    """As the window calculates it for this machine and model."""
    places = places_for(row.machine, row.engine_id)
    plan = _in_parts(
        row.blueprint, row.plan, [place.total_bytes for place in places if place.kind is PlaceKind.DEDICATED]
    )
    paces = paces_for(row.machine, row.engine_id, places, None, tables)
    return speeds(row.blueprint, plan, places, paces, depth=row.depth, prompt=row.prompt, after=row.prompt_after)


def _in_parts(blueprint: Blueprint, plan: Plan, cards: Sequence[int | None]) -> Plan:
    """The plan with as much on the cards as they hold: experts go first, then whole layers."""
    layers = blueprint.weights.layers
    room = sum(USABLE * each for each in cards if each is not None)
    over = blueprint.weights.total_bytes - room
    if blueprint.format != "gguf" or not cards or None in cards or over <= 0:
        return plan
    experts = math.ceil(over / layers[0].expert_bytes) if layers[0].expert_bytes else len(layers) + 1
    if experts <= len(layers):
        return replace(plan, cpu_experts=experts)
    return replace(plan, gpu_layers=len(layers) + 1 - math.ceil(over / layers[0].total_bytes))


def _keys(speed: Speeds) -> set[tuple[str, str]]:
    return {_key(leg.pace.constants) for leg in (speed.decode.legs if speed.decode else ())}


def _key(constants: Constants) -> tuple[str, str]:
    return constants.api, constants.generation


def _fitted(first: Constants, known: Sequence[tuple[Row, Speeds]]) -> Constants:
    """Only rows that ran on this kind of device alone."""
    alone = [(row, speed) for row, speed in known if _keys(speed) == {_key(first)}]
    found = fitted(first, [_token(row, speed.decode.legs) for row, speed in alone if speed.decode])
    return _with_prefill(found, alone)


def _token(row: Row, legs: Sequence[Leg]) -> Token:
    pace, works = legs[0].pace, [leg.work for leg in legs]
    constants = pace.constants
    reading = constants.latent_streaming / constants.cache_streaming if works[0].latent else 1.0
    flash = 1.0 if works[0].flash else WITHOUT_FLASH
    return Token(
        machine=row.group,
        layers=sum(work.layers for work in works),
        mixed_layers=sum(work.mixed_layers for work in works),
        weight_bytes=sum(work.weight_bytes for work in works) / pace.type_factor(works[0].type_name),
        cache_bytes=sum(work.cache_bytes for work in works) / (reading * flash),
        gbs=pace.mid_gbs,
        seconds=1 / row.decode_tps,
    )


def _with_prefill(constants: Constants, known: Sequence[tuple[Row, Speeds]]) -> Constants:
    """The share of the published rate that rows of models without, and then with, experts reach in the middle."""
    dense = _prefill_ratios(known, mixed=False)
    share = constants.prefill_share * (median(dense) if len(dense) > 1 else 1.0)
    mixed = [ratio * constants.prefill_share / share for ratio in _prefill_ratios(known, mixed=True)]
    mixed_share = constants.mixed_prefill_share * (median(mixed) if len(mixed) > 1 else 1.0)
    return replace(constants, prefill_share=share, mixed_prefill_share=mixed_share)


def _prefill_ratios(known: Sequence[tuple[Row, Speeds]], *, mixed: bool) -> list[float]:
    """Measured over calculated; builds without flash attention are of another age, and do not count."""
    return [
        row.prefill_tps / speed.prefill.mid_tps
        for row, speed in known
        if row.mixed is mixed and row.plan.flash_attention and row.prefill_tps and speed.prefill is not None
    ]
