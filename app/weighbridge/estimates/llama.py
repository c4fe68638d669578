"""The memory of llama.cpp, place by place: the weights where they lie, and each layer's cache and state with them."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import layer_kv_bytes, layer_state_bytes
from weighbridge.estimates.compute import PIPELINE_COPIES, compute_bytes, output_bytes
from weighbridge.estimates.estimate import Place, PlaceKind, Share, Term, Terms
from weighbridge.estimates.overhead import dequantised_bytes, overhead_bytes
from weighbridge.estimates.placement import Seat, seats, shares_of
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Shape

_TWO_CARDS = 2


def llama_shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What lies in each of `places`, the first of which is the system's memory; unused cards are left out."""
    taken = llama_seats(blueprint, plan, places)
    pipelined = len(taken) > _TWO_CARDS and not taken[0][1].layers
    kept = _Kept(blueprint.shape, plan, PIPELINE_COPIES if pipelined else 1)
    return tuple(
        Share(place.id, _terms(blueprint, plan, kept, seat, place))
        for place, seat in taken
        if place is places[0] or seat.layers or seat.has_output
    )


def llama_seats(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> list[tuple[Place, Seat]]:
    """What of the weights lies where: the system's memory first, then each card, those without a layer among them."""
    held = [places[0], *(place for place in places[1:] if place.kind is PlaceKind.DEDICATED)]
    cards = shares_of(plan, [place.free_bytes for place in held[1:]]) if len(held) > 1 else ()
    return list(zip(held, seats(blueprint.weights, plan, cards, places[0].reordered), strict=True))


class _Kept:
    """What the layers keep under one plan: reckoned once for each kind of layer, for there are few.

    `copies` is how many batches are under way at a time.
    """

    def __init__(self, shape: Shape, plan: Plan, copies: int) -> None:
        self.copies = copies
        self._kind_of = shape.kind_of
        self._kv_bytes = [layer_kv_bytes(layer, plan) for layer in shape.kinds]
        self._state_bytes = [layer_state_bytes(layer, plan) for layer in shape.kinds]

    def kv_bytes(self, layers: range) -> int:
        """The KV cache of `layers`."""
        return sum(map(self._kv_bytes.__getitem__, self._kind_of[layers.start : layers.stop]))

    def state_bytes(self, layers: range) -> int:
        """The recurrent state of `layers`."""
        return sum(map(self._state_bytes.__getitem__, self._kind_of[layers.start : layers.stop]))


def _terms(blueprint: Blueprint, plan: Plan, kept: _Kept, seat: Seat, place: Place) -> Terms:
    shape, is_host = blueprint.shape, place.kind is not PlaceKind.DEDICATED
    terms: Terms = {
        Term.WEIGHTS: seat.weights_bytes,
        Term.ENGINE: overhead_bytes(plan.engine, place, seat.weights_bytes),
    }
    if shape.certainty is Certainty.UNKNOWN:
        return {**terms, Term.KV: None} if is_host else terms
    terms[Term.KV] = kept.kv_bytes(seat.layers)
    terms[Term.STATE] = kept.state_bytes(seat.layers)
    terms[Term.ENGINE] = (terms[Term.ENGINE] or 0) + _scratch_bytes(shape, plan, seat, place)
    widths = blueprint.activations
    if widths is None:
        return {**terms, Term.COMPUTE: None} if is_host else terms
    terms[Term.COMPUTE] = compute_bytes(
        widths, shape, plan, seat.layers, has_input=is_host, has_output=seat.has_output, copies=kept.copies
    )
    return {**terms, Term.OUTPUT: output_bytes(widths, plan)} if is_host else terms


def _scratch_bytes(shape: Shape, plan: Plan, seat: Seat, place: Place) -> int:
    """Only a quantised cache on a card needs any."""
    if plan.key_type == plan.value_type == "f16":
        return 0
    kinds = set(shape.kind_of[seat.layers.start : seat.layers.stop])
    return dequantised_bytes([shape.kinds[kind] for kind in kinds], plan, place.api)
