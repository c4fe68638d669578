"""What a server program is told of the cards that are here: which share of their memory it may take, and what holds
where it has none. By what the load needs and by what is free now, never by a fixed share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weighbridge.base.errors import Refused
from weighbridge.hardware.machine import Device, Machine, MemoryKind
from weighbridge.running.ability import unable, usable_cards
from weighbridge.running.plans import card_count
from weighbridge_engines.api import Engine, Load

SHARE = "memory_share"
"""The setting of a load that holds the share, by its name in `extra`."""

LEFT_BYTES, LEFT = 512 << 20, 0.03
"""So much of a card stays free for others, the larger of the two: a desktop that grows must not end the server."""

BESIDE_BYTES = 1536 << 20
"""For what such a server holds on a card beside weights and cache: its context of CUDA, its graphs, what it computes
with. An assumption: it depends on model, batch and version, and nothing tells it before the start.
"""

SPARE = 1.1
"""More than is calculated, for what lies in blocks and is rounded up."""

LEAST_SHARE = 0.02
_STEPS = 100


@dataclass(frozen=True)
class CardMemory:
    """The memory of one card, in bytes."""

    total_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class Need:
    """What a load needs on all cards together: the weights, and all of it with the cache (None: not known)."""

    weights_bytes: int
    all_bytes: int | None


def share_of(kind: str, need: Need, cards: Sequence[CardMemory]) -> float | None:
    """The share to take, of the `kind` that `Hardware.share` names, on `cards` that carry equal parts. Pure.

    As much as the load needs with something to spare, and no more than is free: where it needs more, what is free, and
    the server tells what is lacking. None where so little is free that the share would be none; then the server's own
    share stands, and its refusal tells the numbers. Rounded to hundredths, what is free down, what is needed up.
    """
    if not cards:
        return None
    most = min(_most(kind, need, card, len(cards)) for card in cards)
    share = math.floor(most * _STEPS) / _STEPS
    if share < LEAST_SHARE:
        return None
    if need.all_bytes is None:
        return share
    wanted = max(_wanted(kind, need, need.all_bytes, card, len(cards)) for card in cards)
    return min(share, max(LEAST_SHARE, math.ceil(wanted * _STEPS) / _STEPS))


def _most(kind: str, need: Need, card: CardMemory, parts: int) -> float:
    """The share that would take all that is free, but for what is left to others."""
    free = card.free_bytes - max(LEFT_BYTES, int(card.total_bytes * LEFT))
    if kind == "all":
        return free / card.total_bytes
    if kind == "static":
        return (free - BESIDE_BYTES) / card.total_bytes
    rest = _rest(need, card, parts)
    return (rest - (card.free_bytes - free) - BESIDE_BYTES) / rest if rest > 0 else 0.0


def _wanted(kind: str, need: Need, all_bytes: int, card: CardMemory, parts: int) -> float:
    """The share that the load needs."""
    if kind == "all":
        return (all_bytes / parts * SPARE + BESIDE_BYTES) / card.total_bytes
    if kind == "static":
        return all_bytes / parts * SPARE / card.total_bytes
    return (all_bytes - need.weights_bytes) / parts * SPARE / max(1.0, _rest(need, card, parts))


def _rest(need: Need, card: CardMemory, parts: int) -> float:
    return card.free_bytes - need.weights_bytes / parts


def fitted(engine: Engine, load: Load, need: Callable[[], Need], look: Callable[[], Machine]) -> Load:
    """`load` with what `engine` must be told of the machine that `look()` sees; what is asked for stays.

    Without `Engine.hardware` it is `load` itself, and nothing is looked at. Raises Refused with what `unable` tells.
    """
    hardware = engine.hardware
    if hardware is None:
        return load
    machine = look()
    if (cause := unable(engine, machine)) is not None:
        raise Refused(cause.code, **cause.values)
    cards = usable_cards(hardware, machine)
    if not cards:
        return on_processor(engine, load, machine)
    memories = [memory for card in _taken(load, cards) if (memory := _memory(card)) is not None]
    if not hardware.share or SHARE in load.extra or len(memories) < card_count(load):
        return load
    share = share_of(hardware.share, need(), memories)
    return load if share is None else _with(load, {SHARE: share})


def on_processor(engine: Engine, load: Load, machine: Machine | None) -> Load:
    """`load` with what `engine` is told where it finds no card on `machine`; itself where it does, or nobody can tell.
    Pure.
    """
    hardware = engine.hardware
    if hardware is None or machine is None or usable_cards(hardware, machine):
        return load
    return load if hardware.unless_with & set(machine.cpu.extensions) else _with(load, hardware.without_card)


def _taken(load: Load, cards: Sequence[Device]) -> Sequence[Device]:
    return cards[: card_count(load)]


def _memory(card: Device) -> CardMemory | None:
    memory = card.memory
    if memory.kind is not MemoryKind.DEDICATED or not memory.total_bytes or memory.available_bytes is None:
        return None
    return CardMemory(memory.total_bytes, memory.available_bytes)


def _with(load: Load, values: Mapping[str, Any]) -> Load:
    unsaid = {name: value for name, value in values.items() if name not in load.extra}
    return replace(load, extra={**load.extra, **unsaid}) if unsaid else load
