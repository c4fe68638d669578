"""How fast a weighed model would write and read here. Pure, but that earlier runs are told apart by their files.

`Speedometer` is made for one state of the machine and asked for many models; `speeds_of` asks for one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from weighbridge.choices.choice import Choice, Surroundings
from weighbridge.choices.corrections import planned_load
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import HOST, Place, PlaceKind
from weighbridge.estimates.fit import Verdict
from weighbridge.estimates.speed.experience import Run, experienced, measured_alone
from weighbridge.estimates.speed.pace import Pace
from weighbridge.estimates.speed.prefill import first_token_s
from weighbridge.estimates.speed.speed import Speed
from weighbridge.estimates.speed.speeds import PROMPT, Speeds, speeds
from weighbridge.estimates.speed.work import works
from weighbridge.formats.ggml_types import TYPES
from weighbridge.hardware.machine import Bandwidth, Machine
from weighbridge.library.model import Model
from weighbridge.running.observations import build_of
from weighbridge.running.paces import SpeedTables, paces_for
from weighbridge.running.speed_observations import (
    SpeedObservation,
    bandwidths_of,
    own_runs,
    runs_of,
    speed_situation,
)
from weighbridge_engines.api import Cause

_ANYWHERE = ("llama_server", "llama_cpp")
_ON_CARDS = ("mlx", "exllamav2", "exllamav3")
"""Engines whose constants there are: llama.cpp's on every device, those of others on cards alone."""

_BITS = {each.name: each.bits_per_weight for each in TYPES.values()}
_TYPE = re.compile("|".join(sorted(_BITS, key=len, reverse=True)))
"""The type that a label begins with: "Q4_K_M" holds mostly "Q4_K"."""

_Runs = tuple[tuple[Run, ...], tuple[Run, ...]]


class Speedometer:
    """Speeds in one state of the machine. `past` are the runs here, the newest first.

    For one thread: it remembers what places can do, and what runs say of models that never ran.
    """

    def __init__(self, around: Surroundings, tables: SpeedTables, past: Sequence[SpeedObservation] = ()) -> None:
        self._around = around
        self._tables = tables
        self._past = past
        self._paces: dict[tuple[str, int | None], Mapping[str, Pace]] = {}
        self._ran = {path for one in past for path in _paths(one)}
        self._of_others: dict[str, _Runs] = {}

    def of(self, choice: Choice, *, depth: int | None = None, prompt: int = PROMPT) -> Speeds:
        """Both speeds of `choice` with `depth` tokens in the cache, and of a prompt of `prompt` tokens.

        A model that does not fit has none, and neither has one of which too little is known: `why_unknown` says what.
        """
        fit, blueprint = choice.fit, choice.blueprint
        if fit is None or blueprint is None or fit.verdict is Verdict.NO or _is_use_open(blueprint):
            return Speeds()
        blueprint = _counted(blueprint, choice.model.quant)
        known = speeds(blueprint, fit.plan, choice.places, self.paces(choice), depth=depth, prompt=prompt)
        if not self._past:
            return known
        return self._by_itself(choice) if known.decode is None else self._experienced(choice, blueprint, known)

    def paces(self, choice: Choice) -> Mapping[str, Pace]:
        """How fast each place of `choice` is for its engine; those of which too little is known are left out."""
        if choice.runner is None:
            return {}
        key = (choice.runner.engine_id, choice.load.threads)
        if key not in self._paces:
            able = [place for place in choice.places if _is_known(key[0], place)]
            self._paces[key] = paces_for(self._around.machine, key[0], able, key[1], self._tables)
        return self._paces[key]

    def why_unknown(self, choice: Choice) -> Cause | None:
        """Why `choice` has no speed of writing; None where it has one."""
        fit, blueprint = choice.fit, choice.blueprint
        if fit is None or blueprint is None:
            return Cause("speed.not_weighed")
        if fit.verdict is Verdict.NO:
            return Cause("speed.does_not_fit")
        if _is_use_open(blueprint):
            return Cause("speed.brief_header")
        parts = works(blueprint, fit.plan, choice.places, 0)
        return self._lacking(choice, [part.place for part in parts]) if parts else Cause("speed.header")

    def _lacking(self, choice: Choice, used: Sequence[str]) -> Cause | None:
        """What is not known of the first place that some of the model lies in, and of which something is not."""
        paces = self.paces(choice)
        place = next((each for each in choice.places if each.id in used and each.id not in paces), None)
        if place is None or choice.runner is None:
            return None
        if not _is_known(choice.runner.engine_id, place):
            return Cause("speed.no_engine_constants", {"engine": choice.runner.title})
        return _why(self._around.machine, place)

    def _experienced(self, choice: Choice, blueprint: Blueprint, known: Speeds) -> Speeds:
        writing, reading = self._runs(choice)
        mixed = bool(blueprint.weights.expert_sums[-1])
        return Speeds(
            known.decode and experienced(known.decode, mixed, writing),
            known.prefill and experienced(known.prefill, mixed, reading),
        )

    def _by_itself(self, choice: Choice) -> Speeds:
        """Where nothing can be calculated, what this very load did stands alone."""
        build = build_of(self._around.told, choice.runner.engine_id) if choice.runner else None
        if build is None or choice.runner is None or self._ran.isdisjoint(map(str, choice.model.parts)):
            return Speeds()
        now = speed_situation(choice.model, planned_load(choice), choice.runner.engine_id, *build)
        writing, reading = own_runs(self._past, now)
        return Speeds(measured_alone(writing), measured_alone(reading))

    def _runs(self, choice: Choice) -> _Runs:
        """Those that say something of `choice`. What other models say of one that never ran is the same for all."""
        engine_id = choice.runner.engine_id if choice.runner else ""
        ran_itself = not self._ran.isdisjoint(map(str, choice.model.parts))
        if not ran_itself and engine_id in self._of_others:
            return self._of_others[engine_id]
        runs = self._runs_of(choice, engine_id)
        if not ran_itself:
            self._of_others[engine_id] = runs
        return runs

    def _runs_of(self, choice: Choice, engine_id: str) -> _Runs:
        build = build_of(self._around.told, engine_id)
        if build is None:
            return (), ()
        now = speed_situation(choice.model, planned_load(choice), engine_id, *build)
        return runs_of(self._past, now, bandwidths_of(self._around.machine, engine_id))


def speeds_of(
    choice: Choice,
    around: Surroundings,
    tables: SpeedTables,
    past: Sequence[SpeedObservation] = (),
    *,
    depth: int | None = None,
    prompt: int = PROMPT,
) -> Speeds:
    """Both speeds of one model: see `Speedometer.of`."""
    return Speedometer(around, tables, past).of(choice, depth=depth, prompt=prompt)


def needs_whole_header(model: Model) -> bool:
    """Whether the start of its header, where no more is read, leaves its speed open: by experts, or by its type."""
    info = model.info
    if info is None or info.full:
        return False
    return bool(info.experts) or _is_mixture(info.architecture) or not _TYPE.match(model.quant or "")


def first_token_range_s(known: Speeds, prompt: int) -> tuple[float, float] | None:
    """Seconds until the first token of an answer to `prompt` tokens, where both speeds are at the ends of their ranges:
    the least first. None where either is unknown.
    """
    reading, writing = known.prefill, known.decode
    if reading is None or writing is None:
        return None
    soon = first_token_s(prompt, _at(reading, reading.high_tps), _at(writing, writing.high_tps))
    return soon, first_token_s(prompt, _at(reading, reading.low_tps), _at(writing, writing.low_tps))


def bandwidth_of(machine: Machine, place_id: str, name: str) -> Bandwidth | None:
    """What is known of the memory in a place: a card's own, or, where it has none of its own, the system's."""
    for device in machine.devices:
        if device.id == place_id or (place_id == HOST and name and device.name == name):
            return device.bandwidth or (machine.bandwidth if place_id == HOST else None)
    return machine.bandwidth if place_id == HOST else None


def _paths(one: SpeedObservation) -> list[str]:
    """The files that ran; none of a row that somebody has changed into something that it cannot be."""
    try:
        return [str(part[0]) for part in json.loads(one.situation.files) if part]
    except (ValueError, TypeError, LookupError, RecursionError):
        return []


def _is_mixture(architecture: str | None) -> bool:
    """Whether an architecture's own name says that it has experts, which the start of a header may leave open."""
    return "moe" in (architecture or "").casefold()


def _counted(blueprint: Blueprint, quant: str | None) -> Blueprint:
    """With the parameters counted by size and type where only the start of a header is read: what computes is bound by
    them, and may be slower than what its memory gives.
    """
    bits = _BITS.get((_TYPE.match(quant or "") or [""])[0])
    if blueprint.use.active_parameters is not None or blueprint.weights.exact or bits is None:
        return blueprint
    parameters = int(blueprint.weights.total_bytes * 8 / bits)
    return replace(blueprint, use=replace(blueprint.use, active_parameters=parameters))


def _at(speed: Speed, tps: float) -> Speed:
    return replace(speed, mid_tps=tps)


def _is_use_open(blueprint: Blueprint) -> bool:
    """Whether it has experts, but what of its bytes are theirs is not known yet: a token touches few of those."""
    weights, has_experts = blueprint.weights, blueprint.use.expert_share != 1.0 or _is_mixture(blueprint.architecture)
    return has_experts and not weights.exact and not weights.counted


def _is_known(engine_id: str, place: Place) -> bool:
    """Whether there are constants for an engine there at all."""
    return engine_id in _ANYWHERE or (engine_id in _ON_CARDS and place.kind is not PlaceKind.HOST)


def _why(machine: Machine, place: Place) -> Cause:
    """What is not known of a place that some of the model lies in."""
    if bandwidth_of(machine, place.id, place.name) is None:
        return Cause("speed.no_bandwidth", {"device": place.name}) if place.name else Cause("speed.no_ram_bandwidth")
    return Cause("speed.no_constants", {"device": place.name or "RAM", "way": place.api or "cpu"})
