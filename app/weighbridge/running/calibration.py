"""An estimate, put right by what engines say: their own table for the load, or what earlier loads took. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from weighbridge.estimates.estimate import HOST as SYSTEM
from weighbridge.estimates.estimate import Basis, Estimate, Place, PlaceKind, Share, Term
from weighbridge.hardware.machine import Machine
from weighbridge.running.observations import Observation, Situation
from weighbridge.running.sizing import Table
from weighbridge_engines.api import HOST

_IN_TABLE = (Term.WEIGHTS, Term.KV, Term.STATE, Term.COMPUTE)
_WEIGHTS, _CACHE = (Term.WEIGHTS,), (Term.KV, Term.STATE)
_UNTOLD = (Term.ENGINE, Term.PROJECTOR, Term.ADAPTER)
"""What an engine's lines on buffers do not tell. In the system's memory it is measured with all the rest."""


@dataclass(frozen=True)
class Correction:
    """An estimate, and what earlier loads say of it.

    `last_off` is by how much the last load of this architecture on this engine and these devices took more than was
    estimated then, as a share of that (0.04: 4 % more); None where there was none. `loads` is how many loads the figure
    rests on, 0 where it stands as it was.
    """

    estimate: Estimate
    last_off: float | None = None
    loads: int = 0


def device_places(machine: Machine, engine_id: str, places: Sequence[Place]) -> dict[str, str]:
    """The place of each device that an engine named, by the engine's id for it; the system's memory is among them."""
    cards = {place.id for place in places}
    named = {
        sight.id: device.id if device.id in cards else SYSTEM
        for device in machine.devices
        for sight in device.seen_by
        if sight.engine == engine_id
    }
    return {**named, HOST: SYSTEM}


def by_table(
    table: Table, formula: Estimate, places: Sequence[Place], device_place: Mapping[str, str]
) -> Estimate | None:
    """The estimate with the engine's own figures in the place of the formula's.

    None where the devices of the engine that told are not just the `places` that are estimated for: then its table is a
    check beside the formula. What is not in a table (engine, output, projector, draft, adapter) stays as calculated;
    where context is told in one sum, the calculated state is taken to be a part of it.
    """
    cards = {row.device for row in table.rows if not row.host}
    reached = {device_place.get(card) for card in cards}
    wanted = {place.id for place in places if place.kind is not PlaceKind.HOST}
    if reached != wanted or not any(row.host for row in table.rows):
        return None
    shares = tuple(_table_share(place, table, formula, device_place) for place in places)
    return _based(formula, shares, Basis.ENGINE)


def corrected(
    formula: Estimate, now: Situation, past: Sequence[Observation], device_place: Mapping[str, str]
) -> Correction:
    """The estimate after what `past` loads, the newest first, took.

    The same model under the same load: what was measured itself, unless the cache was still to come. The same
    architecture on the same version and devices: the engine's own memory beside what it tells is the median of what it
    was. Never from other devices.
    """
    alike = [one for one in past if _alike(one.situation, now)]
    off = next((share for one in alike if _is_whole(one) and (share := _off(one, device_place)) is not None), None)
    same = [one for one in alike if one.situation.version == now.version]
    exact = next((one for one in same if one.situation == now and _is_whole(one)), None)
    if exact is not None:
        return Correction(_measured(formula, exact, device_place), off, 1)
    telling = [one for one in same if _tells(one, _WEIGHTS)]  # of others the weights would count as the engine's own
    if not telling or SYSTEM not in {share.place for share in formula.shares}:
        return Correction(formula, off)
    engine = int(median(_overhead(one, device_place) for one in telling))
    return Correction(_with_engine(formula, engine), off, len(telling))


def _is_whole(one: Observation) -> bool:
    """Whether a load took at its end what it will take: some engines make room for the cache only as it is filled, and
    tell nothing of it.
    """
    return _tells(one, _CACHE) or not any(one.estimated_bytes.get(term) for term in _CACHE)


def _tells(one: Observation, terms: tuple[Term, ...]) -> bool:
    return any(term in told for told in one.told.values() for term in terms)


def _alike(one: Situation, other: Situation) -> bool:
    """The same architecture, engine and devices; an unknown architecture is like that of the same files alone."""
    if one.architecture is None and one.files != other.files:
        return False
    return (one.architecture, one.engine_id, one.devices) == (other.architecture, other.engine_id, other.devices)


def _table_share(place: Place, table: Table, formula: Estimate, device_place: Mapping[str, str]) -> Share:
    rows = [row for row in table.rows if _place_of(HOST if row.host else row.device, device_place) == place.id]
    known = formula.share(place.id).terms
    context = sum(row.context_bytes for row in rows)
    state = min(known.get(Term.STATE) or 0, context)
    told = {
        Term.WEIGHTS: sum(row.model_bytes for row in rows),
        Term.KV: context - state,
        Term.STATE: state,
        Term.COMPUTE: sum(row.compute_bytes for row in rows),
    }
    rest = {term: amount for term, amount in known.items() if term not in _IN_TABLE}
    return Share(place.id, {**{term: amount for term, amount in told.items() if amount}, **rest})


def _measured(formula: Estimate, one: Observation, device_place: Mapping[str, str]) -> Estimate:
    """What was told, place by place; in the system's memory all else that the engine held is its own.

    It may have touched less than it reserved: then what it reserved counts.
    """
    terms: dict[str, dict[Term, int | None]] = {SYSTEM: {Term.ENGINE: _overhead(one, device_place)}}
    for device, told in one.told.items():
        place = _place_of(device, device_place)
        known = formula.share(place).terms
        sums = terms.setdefault(place, {term: known[term] for term in _UNTOLD if term in known})
        for term, amount in told.items():
            sums[term] = (sums.get(term) or 0) + amount
    return _based(formula, tuple(Share(place, sums) for place, sums in terms.items()), Basis.MEASURED)


def _with_engine(formula: Estimate, engine_bytes: int) -> Estimate:
    before = formula.share(SYSTEM).terms.get(Term.ENGINE) or 0
    shares = tuple(
        replace(share, terms={**share.terms, Term.ENGINE: engine_bytes}) if share.place == SYSTEM else share
        for share in formula.shares
    )
    least = None if formula.least_bytes is None else formula.least_bytes - before + engine_bytes
    return replace(formula, shares=shares, least_bytes=least)


def _based(formula: Estimate, shares: tuple[Share, ...], basis: Basis) -> Estimate:
    made = replace(formula, shares=tuple(share for share in shares if share.terms), basis=basis, notes=())
    return replace(made, least_bytes=made.total_bytes)


def _overhead(one: Observation, device_place: Mapping[str, str]) -> int:
    """What an engine's processes held beside what it told to lie in the system's memory."""
    return max(0, one.resident_bytes - _told_in_system(one, device_place))


def _off(one: Observation, device_place: Mapping[str, str]) -> float | None:
    estimated = one.estimate_bytes
    if not estimated:
        return None
    told = sum(sum(sums.values()) for sums in one.told.values())
    return (told + _overhead(one, device_place)) / estimated - 1


def _told_in_system(one: Observation, device_place: Mapping[str, str]) -> int:
    return sum(sum(told.values()) for device, told in one.told.items() if _place_of(device, device_place) == SYSTEM)


def _place_of(device: str, device_place: Mapping[str, str]) -> str:
    """A device that nobody knows keeps its own name: it lies in none of the places."""
    return SYSTEM if device == HOST else device_place.get(device, device)
