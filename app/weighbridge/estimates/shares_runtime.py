"""The memory of onnxruntime-genai and openvino-genai: files, a cache of every token, what reading a prompt takes.

They run in host memory unless layers are asked to be on a card; there, all of them are.

An estimate: neither their source was read nor their memory measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import Place, PlaceKind, Share, Term, Terms
from weighbridge.estimates.overhead import overhead_bytes
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty

ONNX_GENAI, OPENVINO = "onnx_genai", "openvino"
HOST_KV_BYTES: Mapping[str, float] = {ONNX_GENAI: 4.0, OPENVINO: 1.0625}
"""Bytes of one element in host memory: ONNX models for the CPU keep 32 bits; OpenVINO 8, with scales."""

CARD_KV_BYTES = 2.0
FLOAT_BYTES = 4
STATE_BYTES = 4


def runtime_shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What lies in the one place that is used: the first card where `gpu_layers` is above 0, else host memory."""
    cards = [place for place in places if place.kind is not PlaceKind.HOST] if plan.gpu_layers else []
    place = cards[0] if cards else places[0]
    widths, amount = blueprint.widths, blueprint.weights.total_bytes
    terms: Terms = {Term.WEIGHTS: amount, Term.ENGINE: overhead_bytes(plan.engine, place, amount)}
    if blueprint.shape.certainty is Certainty.UNKNOWN:
        return (Share(place.id, {**terms, Term.KV: None}),)
    element = CARD_KV_BYTES if place in cards else HOST_KV_BYTES.get(plan.engine, CARD_KV_BYTES)
    row = blueprint.shape.total(lambda layer: layer.key_width + layer.value_width)
    terms[Term.KV] = int(plan.context * row * element)
    terms[Term.STATE] = blueprint.shape.total(lambda layer: layer.conv + layer.state) * STATE_BYTES * plan.slots
    if widths is None:
        return (Share(place.id, {**terms, Term.COMPUTE: None}),)
    tokens = min(plan.batch, plan.context)
    inner = 5 * widths.hidden + max(3 * widths.feed_forward, 2 * widths.queries)
    terms[Term.COMPUTE] = tokens * inner * FLOAT_BYTES
    terms[Term.OUTPUT] = widths.vocabulary * FLOAT_BYTES * (tokens if plan.engine == ONNX_GENAI else plan.slots)
    return (Share(place.id, terms),)
