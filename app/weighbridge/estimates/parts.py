"""A plan in parts, where the cards cannot hold it whole: as much on them as they hold, the rest in host memory. Pure.

A mixture of experts first keeps experts in host memory (from the first layer on, as llama.cpp does), then any model
keeps whole layers there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Estimate, Place, PlaceKind
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.on_cards import Takes, experts_on_cards, layers_on_cards
from weighbridge.estimates.overhead import slack_share
from weighbridge.estimates.placement import slot_count
from weighbridge.estimates.plan import Plan
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
        experts = _Parts(blueprint, places, experts_on_cards(blueprint), partial(_with_experts, plan, layers))
        if (mixed := experts.most(layers, whole)) is not None:
            return mixed
        whole = experts.estimates[0]
    away = whole.plan
    split = _Parts(blueprint, places, layers_on_cards(blueprint, away), partial(_with_layers, away))
    found = split.most(slot_count(blueprint.weights), whole)
    if found is not None and not found.plan.gpu_layers:
        return replace(found, plan=replace(found.plan, cpu_experts=plan.cpu_experts))
    return found


def _with_experts(plan: Plan, layers: int, count: int) -> Plan:
    """The experts of the last `count` of `layers` layers on cards."""
    return replace(plan, cpu_experts=layers - count)


def _with_layers(plan: Plan, count: int) -> Plan:
    return replace(plan, gpu_layers=count)


class _Parts:
    """Estimates of one model by how many of its parts lie on cards; `plan_with` makes the plan for a number of them."""

    def __init__(
        self, blueprint: Blueprint, places: Sequence[Place], takes: Takes, plan_with: Callable[[int], Plan]
    ) -> None:
        self.estimates: dict[int, Estimate] = {}
        self._blueprint, self._places, self._cards = blueprint, places, cards_of(places)
        self._takes, self._plan_with = takes, plan_with
        self._held: int | None = None

    def most(self, every: int, whole: Estimate) -> Estimate | None:
        """The one with the most parts that the cards hold; None where they do not even hold it without any.

        `whole` is what it would be with `every` part. The search begins with as many fewer as make up for what is
        missing then.
        """
        bearable = self._takes(every) - self._missing_bytes(whole)
        near = bisect_right(range(every + 1), bearable, key=self._takes) - 1
        count = last(every, self._holds, near)
        return None if count is None else self.estimates[count]

    def _holds(self, count: int) -> bool:
        """Without an estimate where the parts beyond those that are held take more than is left beside them."""
        held = self._held
        if held is not None and self._takes(count) - self._takes(held) > sum(self._lefts(self.estimates[held])):
            return False
        self.estimates[count] = estimate(self._blueprint, self._plan_with(count), self._places)
        if any(left < 0 for left in self._lefts(self.estimates[count])):
            return False
        self._held = max(count, held or 0)
        return True

    def _lefts(self, needed: Estimate) -> list[int]:
        """What is left on each card; nothing on one of which it is not known, with anything there."""
        lefts = [needed.left_bytes(card) for card in self._cards]
        return [-1 if left is None else left for left in lefts]

    def _missing_bytes(self, needed: Estimate) -> float:
        """What is too much for the cards, without what they take beside it."""
        lefts = zip(self._lefts(needed), self._cards, strict=True)
        return sum(-left / (1 + slack_share(card)) for left, card in lefts if left < 0)
