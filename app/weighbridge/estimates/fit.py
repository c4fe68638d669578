"""Whether a model fits, how much is left or missing, and what to change where it does not. Pure.

A plan that names no GPU layers is tried on the GPUs whole; where that is too much, in parts (see `parts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Estimate, Place, PlaceKind
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.parts import cards_of, in_parts
from weighbridge.estimates.placement import slot_count
from weighbridge.estimates.plan import ALIGNED_TO, Plan
from weighbridge.estimates.runtime_device import RUNTIMES
from weighbridge.estimates.search import last

SMALLEST_MARGIN_BYTES, MARGIN = 1 << 30, 0.05
"""Less than the larger of the two left in a place is tight: llama.cpp keeps 1 GiB free itself."""

SHORTEST_CONTEXT = 4096
"""No remedy goes below it: llama.cpp's own fitting stops there too."""

LONGEST_CONTEXT = 1 << 22
SMALLER_CACHE = "q8_0"
"""The KV type that halves the cache at hardly any loss."""


class Verdict(StrEnum):
    """How a plan stands against the memory there is."""

    FITS = "fits"
    TIGHT = "tight"
    PARTIAL = "partial"
    NO = "no"
    UNKNOWN = "unknown"


WHOLE = (Verdict.FITS, Verdict.TIGHT)
GOOD = (*WHOLE, Verdict.PARTIAL)


@dataclass(frozen=True)
class Remedy:
    """The cheapest change that makes a plan fit: the plan with it, and what it is then."""

    plan: Plan
    verdict: Verdict


@dataclass(frozen=True)
class Fit:
    """A verdict with its figures.

    `estimate` is of the plan that would be loaded: where GPUs cannot hold it whole, the one with most on them, which is
    PARTIAL; where not even one layer can go there, it stands as host memory holds it. `left_bytes` is what is left in
    `place`, the tightest one; below 0, what is missing there. `gpu_layers` of `all_layers` (the output counts as one)
    and the experts of all but `cpu_experts` layers are on GPUs; None where there is no GPU.
    """

    verdict: Verdict
    estimate: Estimate
    left_bytes: int | None = None
    place: Place | None = None
    gpu_layers: int | None = None
    all_layers: int | None = None
    remedy: Remedy | None = None

    @property
    def plan(self) -> Plan:
        """The plan that would be loaded."""
        return self.estimate.plan


def fit(blueprint: Blueprint, plan: Plan, places: Sequence[Place], *, with_remedy: bool = False) -> Fit:
    """How `plan` stands in `places`, the first of which is the system's memory.

    `with_remedy` also looks for the cheapest change where it does not fit, which costs some twenty estimates more.
    """
    best = _best(blueprint, plan, places)
    if with_remedy and best.verdict is Verdict.NO:
        return replace(best, remedy=_remedy(blueprint, plan, places))
    return best


def judged_by(better: Estimate, found: Fit, places: Sequence[Place]) -> Fit:
    """`found` with a better estimate of its plan in the place of the calculated one, judged again."""
    verdict, left, place = _verdict(better, places)
    if found.verdict is Verdict.PARTIAL and verdict in WHOLE:
        verdict = Verdict.PARTIAL
    return replace(found, verdict=verdict, estimate=better, left_bytes=left, place=place)


def longest_context(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> int | None:
    """The longest context that fits without giving up more layers than `plan` does; None where not even 256 do.

    Never longer than the model was trained for.
    """
    most = (blueprint.context_length or LONGEST_CONTEXT) // ALIGNED_TO
    steps = last(most, lambda count: _fits_with(blueprint, replace(plan, context=count * ALIGNED_TO), places))
    return steps * ALIGNED_TO if steps else None


def _fits_with(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> bool:
    return _verdict(estimate(blueprint, plan, places), places)[0] in WHOLE


def _best(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> Fit:
    """The verdict on the plan, or on the best of its parts where the GPUs cannot hold it whole."""
    whole = _judge(blueprint, estimate(blueprint, plan, places), places)
    splits = blueprint.can_be_split and plan.engine not in RUNTIMES and plan.gpu_layers is None and cards_of(places)
    if whole.verdict is not Verdict.NO or not splits:
        return whole
    needed = in_parts(blueprint, whole.estimate, places)
    parts = None if needed is None else _judge(blueprint, needed, places)
    if parts is None or parts.verdict not in WHOLE:
        return whole
    return replace(parts, verdict=Verdict.PARTIAL) if parts.gpu_layers else parts


def _judge(blueprint: Blueprint, needed: Estimate, places: Sequence[Place]) -> Fit:
    """The verdict on exactly the plan of this estimate."""
    on_gpu, of_all = _offloaded(blueprint, needed.plan, places)
    verdict, left, place = _verdict(needed, places)
    return Fit(verdict, needed, left, place, on_gpu, of_all)


def _verdict(needed: Estimate, places: Sequence[Place]) -> tuple[Verdict, int | None, Place | None]:
    """By the place where least is left, measured by its margin."""
    if needed.total_bytes is None:
        return _unless_known_is_too_much(needed, places)
    used = [place for place in places if needed.share(place.id).known_bytes]
    lefts = [(left, place) for place in used if (left := needed.left_bytes(place)) is not None]
    if not lefts or len(lefts) < len(used):
        return Verdict.UNKNOWN, None, None
    left, place = min(lefts, key=lambda pair: pair[0] - margin_bytes(pair[1]))
    if left < 0 and needed.least_bytes is not None and left + needed.known_bytes - needed.least_bytes >= 0:
        return Verdict.UNKNOWN, left, place
    if left < 0:
        return Verdict.NO, left, place
    return (Verdict.FITS if left >= margin_bytes(place) else Verdict.TIGHT), left, place


def _unless_known_is_too_much(needed: Estimate, places: Sequence[Place]) -> tuple[Verdict, int | None, Place | None]:
    """What is known alone may already be more than there is."""
    lefts = [(left, place) for place in places if (left := needed.left_bytes(place)) is not None and left < 0]
    if not lefts:
        return Verdict.UNKNOWN, None, None
    left, place = min(lefts, key=lambda pair: pair[0])
    return Verdict.NO, left, place


def margin_bytes(place: Place) -> int:
    """What should be left in `place`."""
    return max(SMALLEST_MARGIN_BYTES, int((place.total_bytes or 0) * MARGIN))


def _offloaded(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[int | None, int | None]:
    """Layers on GPUs and all of them, the output counted as one."""
    if all(place.kind is PlaceKind.HOST for place in places):
        return None, None
    every = slot_count(blueprint.weights)
    return (every if plan.gpu_layers is None else min(plan.gpu_layers, every)), every


def _remedy(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> Remedy | None:
    """The first change, in the order of what it costs the user, with which the model fits at least in part."""
    for changed in _changes(blueprint, plan, places):
        verdict = _best(blueprint, changed, places).verdict
        if verdict in GOOD:
            return Remedy(changed, verdict)
    return None


def _changes(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> Iterator[Plan]:
    """Fewer slots, a smaller KV type, a shorter context, and the last two together."""
    plans = [plan]
    if plan.slots > 1:
        plans.append(replace(plan, slots=1, context=plan.slot_cells if not plan.unified else plan.context))
        yield plans[-1]
    if plan.flash_attention and plan.key_type == plan.value_type == "f16" and blueprint.shape.layers:
        plans.append(replace(plans[-1], key_type=SMALLER_CACHE, value_type=SMALLER_CACHE))
        yield plans[-1]
    for each in dict.fromkeys((plans[0], plans[-1])):
        yield from _shorter(blueprint, each, places)


def _shorter(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> Iterator[Plan]:
    """The plan with the longest context, in steps of 1024 tokens from the shortest on, that fits at all."""
    steps = (plan.context - SHORTEST_CONTEXT) // 1024

    def with_steps(count: int) -> Plan:
        return replace(plan, context=SHORTEST_CONTEXT + count * 1024)

    longest = last(steps, lambda count: _best(blueprint, with_steps(count), places).verdict in GOOD)
    if longest is not None:
        yield with_steps(longest)
