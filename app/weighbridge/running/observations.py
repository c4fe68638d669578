"""What loads really took, kept in the database: the engine's own words, its resident memory, and what was estimated.

One row for each model under each load on each engine and set of devices, the newest; a bounded number of them. They
never leave the machine that they were made on, and never count for another set of devices.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from weighbridge.base.database import Database
from weighbridge.base.errors import WeighbridgeError
from weighbridge.estimates.estimate import HOST, Estimate, Term
from weighbridge.library.model import Model
from weighbridge.running.devices import Told
from weighbridge.running.sizing import decisive, files_of
from weighbridge.running.state import Running
from weighbridge_engines.api import Load

MOST = 500
_TERMS: Mapping[str, Term] = {
    "weights_bytes": Term.WEIGHTS,
    "kv_bytes": Term.KV,
    "state_bytes": Term.STATE,
    "compute_bytes": Term.COMPUTE,
    "output_bytes": Term.OUTPUT,
}
_COLUMNS = "at, files, architecture, engine_id, version, devices, load, estimated, told, resident_bytes"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Situation:
    """What is loaded, how, and by what: all that must be the same for a figure to hold again.

    `files` and `load` are the texts of `sizing.files_of` and `sizing.decisive`, `devices` the names of all that the
    engine's build can compute on.
    """

    files: str
    architecture: str | None
    engine_id: str
    version: str | None
    devices: tuple[str, ...]
    load: str


@dataclass(frozen=True)
class Observation:
    """One load, just after it was ready, in bytes.

    `told` is what the engine said it allocated, by device and term; `resident_bytes` the memory of its processes, which
    holds what lies in the system's memory. `estimated_bytes` is what had been estimated for all that is measured here,
    by term: what an engine takes of a card for itself is not.
    """

    situation: Situation
    told: Mapping[str, Mapping[Term, int]]
    resident_bytes: int
    estimated_bytes: Mapping[Term, int | None] = field(default_factory=dict)
    at: float = 0.0

    @property
    def estimate_bytes(self) -> int | None:
        """What had been estimated; None where it was unknown."""
        amounts = self.estimated_bytes.values()
        return None if not amounts or None in amounts else sum(amount or 0 for amount in amounts)


def situation(model: Model, load: Load, engine_id: str, version: str | None, devices: tuple[str, ...]) -> Situation:
    """That of a model on this machine. Looks at its files."""
    architecture = model.info.architecture if model.info else None
    return Situation(files_of(model.parts), architecture, engine_id, version, devices, decisive(load))


def build_of(told: Iterable[Told], engine_id: str) -> tuple[str | None, tuple[str, ...]] | None:
    """The version of an engine here and the names of its devices; None where it did not tell them."""
    for one in told:
        if one.engine_id == engine_id and one.devices is not None:
            return one.version, tuple(sorted(device.name for device in one.devices))
    return None


def told_by(running: Running) -> dict[str, dict[Term, int]]:
    """What the engine said it allocated, by device and term."""
    return {
        device: {_TERMS[name]: amount for name, amount in sums.items() if name in _TERMS}
        for device, sums in running.held.items()
    }


class Observations:
    """The table in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, one: Observation) -> None:
        """Add one in the place of an older one of the same situation. Raises BadFile("database.failed")."""
        now = one.situation
        row = (
            one.at,
            now.files,
            now.architecture,
            now.engine_id,
            now.version,
            json.dumps(now.devices),
            now.load,
            json.dumps(one.estimated_bytes),
            json.dumps(one.told),
            one.resident_bytes,
        )
        with self._database.transaction() as connection:
            connection.execute(f"INSERT OR REPLACE INTO observations ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)", row)
            connection.execute(
                "DELETE FROM observations WHERE id <= (SELECT id FROM observations ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (MOST,),
            )

    def all(self) -> tuple[Observation, ...]:
        """Newest first. Raises BadFile("database.failed")."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM observations ORDER BY id DESC")
        return tuple(one for row in rows if (one := _read(row)) is not None)


class Recorder:
    """Makes an observation of each load that is ready, on a thread of its own. `close` must be called.

    `describe` gives the estimate for what runs, or None; `build` the version of its engine and the names of the
    devices that it sees, or None where that is not known.
    """

    def __init__(
        self,
        observations: Observations,
        describe: Callable[[Model, Running], Estimate | None],
        build: Callable[[Running], tuple[str | None, tuple[str, ...]] | None],
    ) -> None:
        self._observations = observations
        self._describe = describe
        self._build = build
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="observations")

    def loaded(self, model: Model, running: Running) -> None:
        """To be called once for each load that is ready, from any thread. Returns at once and never raises."""
        with suppress(RuntimeError):  # closed in between
            self._worker.submit(self._record, model, running)

    def close(self) -> None:
        """Finish what has begun."""
        self._worker.shutdown()

    def _record(self, model: Model, running: Running) -> None:
        try:
            build = self._build(running)
            told = told_by(running)
            if build is None or running.memory_bytes is None or not told:
                return
            estimate = self._describe(model, running)
            estimated = {} if estimate is None else _measurable(estimate)
            now = situation(model, running.load, running.engine_id, *build)
            self._observations.keep(Observation(now, told, running.memory_bytes, estimated, time.time()))
        except WeighbridgeError as error:
            _log.info("the load of %s was not observed: %s", model.id, error)
        except Exception:  # in a future that nobody looks at
            _log.exception("the load of %s was not observed", model.id)


def _measurable(estimate: Estimate) -> dict[Term, int | None]:
    engine = estimate.share(HOST).terms.get(Term.ENGINE, 0)
    return {**{term: estimate.term(term) for term in Term}, Term.ENGINE: engine}


def _read(row: sqlite3.Row) -> Observation | None:
    """None for a row that somebody else has changed into something that it cannot be."""
    try:
        now = Situation(
            row["files"],
            row["architecture"],
            row["engine_id"],
            row["version"],
            tuple(map(str, json.loads(row["devices"]))),
            row["load"],
        )
        estimated = {Term(name): amount for name, amount in json.loads(row["estimated"]).items()}
        told = {
            str(device): {Term(name): int(amount) for name, amount in sums.items()}
            for device, sums in json.loads(row["told"]).items()
        }
        return Observation(now, told, int(row["resident_bytes"]), estimated, row["at"])
    except (ValueError, TypeError, AttributeError):
        return None
