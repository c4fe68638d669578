"""What can be given up so that a load that does not fit does: one way of each kind, with what it comes to. Pure.

The user chooses. Each way is weighed and timed as a whole, by the functions that everything else goes through.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from weighbridge.choices.choice import Choice
from weighbridge.estimates.fit import GOOD, SHORTEST_CONTEXT
from weighbridge.estimates.plan import ELEMENT_BYTES, element_bytes
from weighbridge.library.model import Model
from weighbridge_engines.api import Load

SMALLER_TYPES = ("q8_0", "q4_0")
"""Types of the KV cache that are tried, the one with less loss first."""
_STEP = 256


class WayKind(StrEnum):
    """What is given up."""

    CONTEXT = "context"
    CACHE = "cache"
    LAYERS = "layers"
    TOGETHER = "together"
    QUANT = "quant"


@dataclass(frozen=True)
class Way:
    """One way out. `choice` is what the model, or a smaller one, is with it: its load, verdict and speeds."""

    kind: WayKind
    choice: Choice


Weigh = Callable[[Model, Load], Choice]
"""Weighs and times a model as a load would load it."""


Takes = Callable[[Load], bool]
"""Whether the engine would follow a load."""


def takes_all(load: Load) -> bool:
    """Where nobody knows what the engine would follow."""
    del load
    return True


def ways_out(choice: Choice, weighed: Weigh, siblings: Iterable[Model], takes: Takes = takes_all) -> tuple[Way, ...]:
    """For a load that does not fit: the longest context with which it does, the KV type with the least loss, the most
    layers on cards, the largest of `siblings` (largest first). Only those with which it really fits; where none of
    the first three is enough by itself, all of them together. Types of the cache are only those that the engine
    `takes`.
    """
    if choice.fit is None or choice.fit.verdict in GOOD:
        return ()
    trial = _Trial(choice, weighed, takes)
    kinds: Sequence[tuple[WayKind, Iterator[Choice]]] = (
        (WayKind.CONTEXT, trial.contexts()),
        (WayKind.CACHE, trial.caches()),
        (WayKind.LAYERS, trial.layers()),
    )
    found = [*_first(kinds)] or [*_first([(WayKind.TOGETHER, trial.together())])]
    return (*found, *_first([(WayKind.QUANT, trial.quants(siblings))]))


def _first(kinds: Iterable[tuple[WayKind, Iterator[Choice]]]) -> Iterator[Way]:
    """The first of each kind with which it fits."""
    for kind, choices in kinds:
        made = next(filter(_is_good, choices), None)
        if made is not None:
            yield Way(kind, made)


@dataclass(frozen=True)
class _Trial:
    """One load that does not fit; each method weighs loads that give up one thing, the least first."""

    choice: Choice
    weighed: Weigh
    taken: Takes

    def contexts(self, **given_up: object) -> Iterator[Choice]:
        """The longest that fits, in steps of a cache."""
        context = self.choice.fit.plan.context if self.choice.fit else 0
        shorter = range(min(SHORTEST_CONTEXT, context // 2), context, _STEP)[::-1]
        first = bisect_left(shorter, True, key=lambda tokens: _is_good(self._with(context=tokens, **given_up)))
        if first < len(shorter):
            yield self._with(context=shorter[first], **given_up)

    def caches(self) -> Iterator[Choice]:
        """Types that take less than what is asked for; they need flash attention."""
        plan = self.choice.fit.plan if self.choice.fit else None
        if plan is None or not plan.flash_attention:
            return
        both_bytes = (element_bytes(plan.key_type) or 0) + (element_bytes(plan.value_type) or 0)
        for kind in SMALLER_TYPES:
            load = replace(self.choice.load, key_type=kind, value_type=kind)
            if 2 * ELEMENT_BYTES[kind] < both_bytes and self.taken(load):
                yield self._with(key_type=kind, value_type=kind)

    def layers(self) -> Iterator[Choice]:
        """The most that fit on cards, where so many were asked for by name."""
        asked = self.choice.load.gpu_layers
        if not asked:
            return
        fewer = range(asked)[::-1]
        first = bisect_left(fewer, True, key=lambda count: _is_good(self._with(gpu_layers=count)))
        if first < len(fewer):
            yield self._with(gpu_layers=fewer[first])

    def together(self) -> Iterator[Choice]:
        """Layers as the engine likes them, with the smaller types and then with the longest context that fits."""
        divided = {"gpu_layers": None, "cpu_experts": None}
        smaller = [{"key_type": one.load.key_type, "value_type": one.load.value_type} for one in self.caches()]
        for types in ({}, *smaller):
            yield self._with(**divided, **types)
            yield from self.contexts(**divided, **types)

    def quants(self, siblings: Iterable[Model]) -> Iterator[Choice]:
        """The same model in fewer bytes."""
        for model in siblings:
            yield self.weighed(model, replace(self.choice.load, model=str(model.path), alias=model.id))

    def _with(self, **given_up: object) -> Choice:
        load: Load = replace(self.choice.load, **given_up)  # type: ignore[arg-type] # by the names of its fields
        return self.weighed(self.choice.model, load)


def _is_good(choice: Choice) -> bool:
    return choice.fit is not None and choice.fit.verdict in GOOD
