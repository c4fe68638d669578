"""A plan in parts, where the cards cannot hold it whole: as much on them as they hold, the rest in host memory. Pure.

A mixture of experts first keeps experts in host memory (from the first layer on, as llama.cpp does), then any model
keeps whole layers there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Estimate, Place, PlaceKind
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.overhead import slack_share
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.relief import experts_to_keep, layers_to_keep
from weighbridge.estimates.search import last


def cards_of(places: Sequence[Place]) -> list[Place]:
    """The cards among `places`."""
    return [place for place in places if place.kind is PlaceKind.DEDICATED]


def in_parts(blueprint: Blueprint, whole: Estimate, places: Sequence[Place]) -> Estimate | None:
    """The plan of `whole` with what the cards cannot hold in host memory; None where they hold not even nothing.

    Experts that the plan itself keeps in host memory stay there as told.
    """
    plan, layers = whole.plan, len(blueprint.weights.layers)
    if not plan.cpu_experts and blueprint.weights.expert_sums[layers]:
        near = layers - experts_to_keep(blueprint, _missing_bytes(whole, places))
        mixed = _most(blueprint, places, lambda count: replace(plan, cpu_experts=layers - count), layers, near)
        if mixed is not None:
            return mixed
        whole = estimate(blueprint, replace(plan, cpu_experts=layers), places)
    away = whole.plan
    near = layers + 1 - layers_to_keep(blueprint, away, _missing_bytes(whole, places))
    found = _most(blueprint, places, lambda count: replace(away, gpu_layers=count), layers + 1, near)
    if found is not None and not found.plan.gpu_layers:
        return replace(found, plan=replace(found.plan, cpu_experts=plan.cpu_experts))
    return found


def _most(
    blueprint: Blueprint, places: Sequence[Place], plan_with: Callable[[int], Plan], most: int, near: int
) -> Estimate | None:
    """The estimate of the plan with the largest number, up to `most`, that the cards hold."""
    estimates: dict[int, Estimate] = {}

    def holds(count: int) -> bool:
        estimates[count] = estimate(blueprint, plan_with(count), places)
        lefts = [estimates[count].left_bytes(place) for place in cards_of(places)]
        return all(left is not None and left >= 0 for left in lefts)

    count = last(most, holds, near)
    return None if count is None else estimates[count]


def _missing_bytes(needed: Estimate, places: Sequence[Place]) -> float:
    """What is too much for the cards, without what they take beside it."""
    cards = cards_of(places)
    return sum(max(0, -(needed.left_bytes(card) or 0)) / (1 + slack_share(card)) for card in cards)
