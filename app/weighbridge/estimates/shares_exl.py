"""The memory of exllamav2 and exllamav3: the embedding in host memory, all else on cards, one filled after the other.

Read in their source, not run: they need CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.estimates import cache_exl2, cache_exl3
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Place, PlaceKind, Share, Term, Terms
from weighbridge.estimates.filling import filled
from weighbridge.estimates.overhead import overhead_bytes, process_bytes
from weighbridge.estimates.placement import Seat, shares_of
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Layer

EXLLAMAV2, EXLLAMAV3 = "exllamav2", "exllamav3"
LOGIT_BYTES = 4


def exl_shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What lies in host memory, the first of `places`, and on each card that is used.

    `plan.split` shares the layers out as it says; without it, each card is filled before the next.
    """
    host = _host(blueprint, plan, places[0])
    cards = _cards(places)
    if not cards:
        return (_joined(host, _card(blueprint, plan, places[0], range(_count(blueprint)), first=True)),)
    spans = _spans(blueprint, plan, cards)
    used = [(number, span) for number, span in enumerate(spans) if span]
    return (
        host,
        *(_card(blueprint, plan, cards[number], span, first=number == 0) for number, span in used),
    )


def exl_seats(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> list[tuple[Place, Seat]]:
    """Which layers lie on which card, and where the output is; in the first of `places` where there is no card."""
    layers, cards = len(blueprint.weights.layers), _cards(places)
    spans = _spans(blueprint, plan, cards) if cards else (range(layers + 1),)
    return [
        (place, Seat(layers=range(span.start, min(span.stop, layers)), has_output=layers in span))
        for place, span in zip(cards or [places[0]], spans, strict=True)
    ]


def _cards(places: Sequence[Place]) -> list[Place]:
    return [place for place in places[1:] if place.kind is PlaceKind.DEDICATED]


def _count(blueprint: Blueprint) -> int:
    """Slots to be filled: the layers, and the output after them."""
    return len(blueprint.weights.layers) + 1


def _host(blueprint: Blueprint, plan: Plan, place: Place) -> Share:
    return Share(place.id, {Term.WEIGHTS: blueprint.weights.input_bytes, Term.ENGINE: process_bytes(plan.engine)})


def _joined(one: Share, other: Share) -> Share:
    """Both in one place, as it would be without a card."""
    terms: Terms = {**other.terms, Term.WEIGHTS: (one.terms[Term.WEIGHTS] or 0) + (other.terms[Term.WEIGHTS] or 0)}
    return Share(one.place, {**terms, Term.ENGINE: one.terms[Term.ENGINE]})


def _spans(blueprint: Blueprint, plan: Plan, cards: Sequence[Place]) -> tuple[range, ...]:
    sizes = [_slot_bytes(blueprint, plan, slot) for slot in range(_count(blueprint))]
    if any(plan.split or ()):
        weights = shares_of(plan, [card.free_bytes for card in cards])
        return filled(sizes, [int(sum(sizes) * each / sum(weights)) for each in weights])
    fixed = _compute_bytes(blueprint, plan, range(0))
    taken = [_engine_bytes(plan, card, first=number == 0) + fixed for number, card in enumerate(cards)]
    free = [card.free_bytes for card in cards]
    return filled(sizes, [None if room is None else room - fix for room, fix in zip(free, taken, strict=True)])


def _slot_bytes(blueprint: Blueprint, plan: Plan, slot: int) -> int:
    layers = blueprint.weights.layers
    if slot == len(layers):
        return blueprint.weights.output_bytes
    kept = _kept(blueprint, plan, blueprint.shape.layers[slot]) if slot < len(blueprint.shape.layers) else (0, 0)
    return layers[slot].total_bytes + sum(kept)


def _card(blueprint: Blueprint, plan: Plan, place: Place, span: range, *, first: bool) -> Share:
    weights, shape, widths = blueprint.weights, blueprint.shape, blueprint.widths
    has_output = len(weights.layers) in span
    amount = sum(layer.total_bytes for layer in weights.layers[span.start : span.stop])
    terms: Terms = {
        Term.WEIGHTS: amount + (weights.output_bytes if has_output else 0),
        Term.ENGINE: _engine_bytes(plan, place, first=first),
    }
    if shape.certainty is Certainty.UNKNOWN:
        return Share(place.id, {**terms, Term.KV: None})
    kept = [_kept(blueprint, plan, layer) for layer in shape.layers[span.start : span.stop]]
    terms |= {Term.KV: sum(kv for kv, _ in kept), Term.STATE: sum(state for _, state in kept)}
    terms[Term.COMPUTE] = None if widths is None else _compute_bytes(blueprint, plan, span)
    if has_output and widths is not None:
        terms[Term.OUTPUT] = widths.vocabulary * LOGIT_BYTES * plan.slots
    return Share(place.id, terms)


def _kept(blueprint: Blueprint, plan: Plan, layer: Layer) -> tuple[int, int]:
    """A layer's cache and state."""
    if plan.engine == EXLLAMAV2:
        return cache_exl2.layer_kv_bytes(layer, plan), 0
    architecture = blueprint.architecture or ""
    return (
        cache_exl3.layer_kv_bytes(layer, plan, architecture, latent=blueprint.shape.latent),
        cache_exl3.layer_state_bytes(layer, plan, architecture),
    )


def _compute_bytes(blueprint: Blueprint, plan: Plan, span: range) -> int:
    widths = blueprint.widths
    if widths is None:
        return 0
    if plan.engine == EXLLAMAV3:
        return cache_exl3.scratch_bytes(widths, plan)
    layers = blueprint.shape.layers[span.start : span.stop] or blueprint.shape.layers
    unpacked = max((cache_exl2.unpacked_bytes(layer, plan) for layer in layers), default=0)
    return cache_exl2.scratch_bytes(widths, plan) + unpacked


def _engine_bytes(plan: Plan, card: Place, *, first: bool) -> int:
    """The driver's part, and what the engine leaves free: exllamav3 counts the one into the other."""
    driver = overhead_bytes(plan.engine, card)
    if plan.engine == EXLLAMAV3:
        return max(driver, cache_exl3.RESERVED_BYTES)
    return driver + cache_exl2.RESERVED_BYTES[0 if first else 1]
