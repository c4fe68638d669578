"""How fast answers were here, kept in the database, each beside what was calculated for it then.

One row for each answer that says something; the newest of each load, and a bounded number of all. They never leave the
machine that they were made on, and never count for another engine or set of devices.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weighbridge.base.database import Database
from weighbridge.estimates.estimate import HOST
from weighbridge.estimates.speed.experience import Run
from weighbridge.hardware.machine import Bandwidth, Machine
from weighbridge.library.model import Model
from weighbridge.running.answered import is_speed
from weighbridge.running.observations import Situation, situation
from weighbridge_engines.api import Load

FORMULA = 1
"""Goes up whenever the same load on the same machine is calculated otherwise: older rows then count no more."""

MOST, MOST_OF_A_LOAD = 500, 10
MOST_OTHERS, MOST_OF_ANOTHER = 20, 3
"""How many runs of other loads count, and how many of one of them: neither a day nor a model is to outweigh all."""

STEADY = 0.1
"""By how much a bandwidth may differ from that of an earlier calculation, as a share, for the two to compare."""

_SITUATION = ("files", "architecture", "engine_id", "version", "devices", "load")
_SPEEDS = ("decode_tps", "prefill_tps", "calculated_decode_tps", "calculated_prefill_tps")
_COLUMNS = (*_SITUATION, "formula", "bandwidths", "mixed", "depth", "prompt_tokens", *_SPEEDS, "busy", "at")
_OF_ITS_LOAD = "files = ? AND engine_id = ? AND load = ? AND version IS ? AND devices = ?"


@dataclass(frozen=True)
class SpeedObservation:
    """One answer: tokens a second, None where it was too short to tell.

    `situation` is that of `speed_situation`. `depth` are the tokens in the cache in the middle of the answer,
    `prompt_tokens` those of the prompt that were freshly read. What was calculated is the middle of its range, for the
    same depth and prompt, and rests on `bandwidths`. `mixed`: the model has experts. `busy` is the share of the
    processor that others than the engine used.
    """

    situation: Situation
    mixed: bool
    depth: int
    decode_tps: float | None
    prompt_tokens: int | None
    prefill_tps: float | None
    calculated_decode_tps: float | None
    calculated_prefill_tps: float | None
    busy: float | None
    at: float
    bandwidths: Mapping[str, float] = field(default_factory=dict)


def speed_situation(
    model: Model, load: Load, engine_id: str, version: str | None, devices: tuple[str, ...]
) -> Situation:
    """As `observations.situation`, but loads with other threads are other loads, for they are not as fast, and those
    that differ in the room for their context alone are the same: a cache is read as far as it is filled.
    """
    made = situation(model, replace(load, context=None), engine_id, version, devices)
    return replace(made, load=json.dumps([made.load, load.threads]))


def bandwidths_of(machine: Machine, engine_id: str) -> dict[str, float]:
    """What a calculation for this engine rests on, in GB/s by place: system memory and the devices that it sees."""
    seen = [one for one in machine.devices if any(sight.engine == engine_id for sight in one.seen_by)]
    known = {HOST: machine.bandwidth, **{one.id: one.bandwidth for one in seen}}
    return {place: _middle(bandwidth) for place, bandwidth in known.items() if bandwidth is not None}


def runs_of(
    past: Sequence[SpeedObservation], now: Situation, bandwidths: Mapping[str, float]
) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """The runs in `past`, the newest first, that say something of `now`: of writing, and of reading a prompt.

    They ran on the same engine and devices, and were calculated with the same `bandwidths` as now. `same` are those of
    the very same files, load and version.
    """
    alike = [one for one in past if _is_alike(one, now) and _is_steady(one.bandwidths, bandwidths)]
    writing = [(one, one.decode_tps, one.calculated_decode_tps) for one in alike]
    reading = [(one, one.prefill_tps, one.calculated_prefill_tps) for one in alike]
    return _runs(writing, now), _runs(reading, now)


def own_runs(
    past: Sequence[SpeedObservation], now: Situation
) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
    """What this very load did, the newest first, whether it could be calculated or not: of writing, and of reading a
    prompt, each with the depth.
    """
    own = [one for one in past if one.situation == now]
    writing = [(one.decode_tps, one.depth) for one in own if one.decode_tps is not None]
    return writing, [(one.prefill_tps, 0) for one in own if one.prefill_tps is not None]


class SpeedObservations:
    """The table in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, one: SpeedObservation) -> None:
        """Add one; the oldest of its load, and of all, make room for it. Raises BadFile("database.failed")."""
        now, row = one.situation, _row(one)
        of_its_load = (now.files, now.engine_id, now.load, now.version, row["devices"])
        with self._database.transaction() as connection:
            connection.execute(
                f"INSERT INTO speeds ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})",
                [row[name] for name in _COLUMNS],
            )
            # Most answers read little of a prompt: those that did must not be pushed out by those that did not.
            newest = " AND ".join(
                f"id NOT IN (SELECT id FROM speeds WHERE {_OF_ITS_LOAD} AND {kind} IS NOT NULL"
                f" ORDER BY id DESC LIMIT {MOST_OF_A_LOAD})"
                for kind in ("decode_tps", "prefill_tps")
            )
            connection.execute(f"DELETE FROM speeds WHERE {_OF_ITS_LOAD} AND {newest}", of_its_load * 3)
            connection.execute(
                "DELETE FROM speeds WHERE id <= (SELECT id FROM speeds ORDER BY id DESC LIMIT 1 OFFSET ?)", (MOST,)
            )

    def all(self) -> tuple[SpeedObservation, ...]:
        """Those calculated as now, the newest first. Raises BadFile("database.failed")."""
        query = f"SELECT {', '.join(_COLUMNS)} FROM speeds WHERE formula = ? ORDER BY id DESC"
        rows = self._database.rows(query, (FORMULA,))
        return tuple(one for row in rows if (one := _read(row)) is not None)


def _is_alike(one: SpeedObservation, now: Situation) -> bool:
    return (one.situation.engine_id, one.situation.devices) == (now.engine_id, now.devices)


def _is_steady(then: Mapping[str, float], now: Mapping[str, float]) -> bool:
    return then.keys() == now.keys() and all(abs(then[place] / now[place] - 1) <= STEADY for place in now)


def _runs(measured: Sequence[tuple[SpeedObservation, float | None, float | None]], now: Situation) -> tuple[Run, ...]:
    runs: list[Run] = []
    others: Counter[str] = Counter()
    for one, tps, calculated_tps in measured:
        if tps is None or calculated_tps is None:
            continue
        files = one.situation.files
        same = _of_load(one.situation) == _of_load(now)
        if not same:
            if others.total() >= MOST_OTHERS or others[files] >= MOST_OF_ANOTHER:
                continue
            others[files] += 1
        runs.append(Run(tps, calculated_tps, one.mixed, same))
    return tuple(runs)


def _of_load(one: Situation) -> tuple[str, str, str | None]:
    return one.files, one.load, one.version


def _middle(bandwidth: Bandwidth) -> float:
    return math.sqrt(bandwidth.low_gbs * bandwidth.high_gbs)


def _row(one: SpeedObservation) -> dict[str, object]:
    """Its columns by name."""
    own = {name: getattr(one, name) for name in (*_SPEEDS, "mixed", "depth", "prompt_tokens", "busy", "at")}
    now = {name: getattr(one.situation, name) for name in _SITUATION}
    devices, bandwidths = json.dumps(one.situation.devices), json.dumps(dict(one.bandwidths))
    return {**now, **own, "devices": devices, "bandwidths": bandwidths, "formula": FORMULA}


def _read(row: sqlite3.Row) -> SpeedObservation | None:
    """None for a row that somebody else has changed into something that it cannot be."""
    try:
        now = Situation(**{name: row[name] for name in _SITUATION} | {"devices": _names(row["devices"])})
        speeds = {name: _speed(row[name]) for name in _SPEEDS}
        return SpeedObservation(
            situation=now,
            mixed=bool(row["mixed"]),
            depth=int(row["depth"]),
            prompt_tokens=None if row["prompt_tokens"] is None else int(row["prompt_tokens"]),
            busy=None if row["busy"] is None else float(row["busy"]),
            at=float(row["at"]),
            bandwidths={str(place): _speed(gbs) or 0.0 for place, gbs in json.loads(row["bandwidths"]).items()},
            **speeds,
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _names(text: str) -> tuple[str, ...]:
    return tuple(map(str, json.loads(text)))


def _speed(value: float | None) -> float | None:
    if value is not None and not is_speed(value):
        raise ValueError(value)
    return value
