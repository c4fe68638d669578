"""The memory of llama.cpp, place by place: the weights where they lie, and each layer's cache and state with them."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import layer_kv_bytes, layer_state_bytes
from weighbridge.estimates.compute import compute_bytes, output_bytes
from weighbridge.estimates.estimate import Place, PlaceKind, Share, Term
from weighbridge.estimates.placement import Seat, seats, shares_of
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty

Terms = dict[Term, int | None]


def llama_shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What lies in each of `places`, the first of which is the system's memory; engine overheads are not in it."""
    held = [places[0], *(place for place in places[1:] if place.kind is PlaceKind.DEDICATED)]
    cards = shares_of(plan, [place.free_bytes for place in held[1:]]) if len(held) > 1 else ()
    taken = seats(blueprint.weights, plan, cards)
    return tuple(
        Share(place.id, _terms(blueprint, plan, seat, is_host=place is held[0]))
        for place, seat in zip(held, taken, strict=True)
    )


def _terms(blueprint: Blueprint, plan: Plan, seat: Seat, *, is_host: bool) -> Terms:
    shape = blueprint.shape
    terms: Terms = {Term.WEIGHTS: seat.weights_bytes}
    if shape.certainty is Certainty.UNKNOWN:
        return {**terms, Term.KV: None} if is_host else terms
    layers = shape.layers + shape.predicting if plan.predict else shape.layers
    own = layers[seat.layers.start : seat.layers.stop]
    terms[Term.KV] = sum(layer_kv_bytes(layer, plan) for layer in own)
    terms[Term.STATE] = sum(layer_state_bytes(layer, plan) for layer in own)
    widths = blueprint.activations
    if widths is not None and (seat.layers or seat.has_output):
        terms[Term.COMPUTE] = compute_bytes(widths, shape, plan, seat.layers)
    if widths is not None and is_host:
        terms[Term.OUTPUT] = output_bytes(widths, plan)
    return terms
