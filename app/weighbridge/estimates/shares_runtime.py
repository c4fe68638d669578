"""The memory of onnxruntime-genai and openvino-genai: files, a cache of every token, what reading a prompt takes.

All of a model lies where it is computed: see `runtime_device`. What lies in the system's memory was measured on a
processor with AVX-512, with 0.18 and 2026.4 of the two: SmolLM2-135M in 4 bits, the same with three times the layers,
and with feed-forward steps four times as wide. What a card takes is an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.cache import STATE_BYTES
from weighbridge.estimates.config_widths import Widths
from weighbridge.estimates.estimate import Place, PlaceKind, Share, Term, Terms
from weighbridge.estimates.overhead import MIB, overhead_bytes, process_bytes
from weighbridge.estimates.plan import ELEMENT_BYTES, Plan
from weighbridge.estimates.runtime_device import ONNX_GENAI, place_of
from weighbridge.estimates.shape import Certainty
from weighbridge_engines.prompt_steps import prompt_step

FLOAT_BYTES = 4
SMALL_KEYS = "q8_0"
"""The name of OpenVINO's own cache of 8 bits: each has scale and zero in floats, keys for each 32 tokens of a channel,
values for each token of a head. Of its 4 bits, which take more than that on a processor, too.
"""

_KEYS_BYTES, _SCALE_BYTES, _USUAL_HEAD = 1 + 8 / 32, 8, 64
_LAYER_COPIES = 3
"""The caches of so many layers stand in memory once more while ONNX Runtime computes."""


@dataclass(frozen=True)
class Held:
    """What a runtime keeps in the system's memory: for each byte of the files that tell a model's weights, `copied`
    bytes in an order of its own, and `mapped` bytes of the file itself, which the system takes back where somebody
    needs them; for each layer its graph, and for each token of the vocabulary its name.
    """

    copied: float
    mapped: float
    layer_bytes: int
    token_bytes: int


ONNX = Held(copied=1.4, mapped=0.0, layer_bytes=MIB * 2 // 3, token_bytes=450)
OPENVINO_IR = Held(copied=1.35, mapped=1.0, layer_bytes=2 * MIB, token_bytes=250)
OPENVINO_GGUF = Held(copied=2.3, mapped=0.0, layer_bytes=2 * MIB, token_bytes=250)


def with_step(blueprint: Blueprint, plan: Plan) -> Plan:
    """`plan` with how much of a prompt its engine takes at a time on a processor: as told, or by the threads of it."""
    if plan.threads is None:
        return plan
    step = prompt_step(blueprint.weights.total_bytes, plan.threads)
    return replace(plan, batch=step, micro_batch=step)


def held_by(blueprint: Blueprint, plan: Plan) -> Held:
    """How the runtime of `plan` keeps this kind of file."""
    if plan.engine == ONNX_GENAI:
        return ONNX
    return OPENVINO_GGUF if blueprint.format == "gguf" else OPENVINO_IR


def given_back_bytes(blueprint: Blueprint, plan: Plan) -> int:
    """How much of what a settled plan takes are pages of a file that nobody reads any more."""
    return int(blueprint.weights.total_bytes * held_by(blueprint, plan).mapped) if plan.gpu_layers == 0 else 0


def runtime_shares(blueprint: Blueprint, plan: Plan, places: Sequence[Place]) -> tuple[Share, ...]:
    """What a settled `plan` takes in the place where it is computed, and beside a card its process in the system's."""
    place = place_of(plan, places)
    if plan.gpu_layers == 0:
        return (Share(place.id, _terms(blueprint, plan, _on_processor(blueprint, plan, place))),)
    amount = blueprint.weights.total_bytes
    terms: Terms = {Term.WEIGHTS: amount, Term.ENGINE: overhead_bytes(plan.engine, place, amount)}
    card = Share(place.id, _terms(blueprint, plan, terms))
    if place.kind is not PlaceKind.DEDICATED:
        return (card,)
    return (Share(places[0].id, {Term.ENGINE: process_bytes(plan.engine)}), card)


def _on_processor(blueprint: Blueprint, plan: Plan, place: Place) -> Terms:
    held, widths = held_by(blueprint, plan), _widths(blueprint)
    beside = len(blueprint.shape.layers) * held.layer_bytes + (widths.vocabulary if widths else 0) * held.token_bytes
    weights = int(blueprint.weights.total_bytes * (held.copied + held.mapped))
    return {Term.WEIGHTS: weights, Term.ENGINE: overhead_bytes(plan.engine, place) + beside}


def _terms(blueprint: Blueprint, plan: Plan, terms: Terms) -> Terms:
    """`terms` with what a context takes."""
    shape, widths = blueprint.shape, _widths(blueprint)
    if shape.certainty is Certainty.UNKNOWN:
        return {**terms, Term.KV: None}
    keys, values = _element_bytes(plan, widths)
    rows = [layer.key_width * keys + layer.value_width * values for layer in shape.layers]
    terms = {
        **terms,
        Term.KV: int(plan.context * sum(rows)),
        Term.STATE: shape.total(lambda layer: layer.conv + layer.state) * STATE_BYTES * plan.slots,
    }
    if widths is None:
        return {**terms, Term.COMPUTE: None}
    step = min(plan.batch, plan.context)
    if plan.engine == ONNX_GENAI:
        copies = int(_LAYER_COPIES * plan.context * max(rows, default=0))
        return {
            **terms,
            Term.COMPUTE: step * widths.beside * FLOAT_BYTES + copies,
            Term.OUTPUT: step * widths.vocabulary * FLOAT_BYTES,
        }
    scores = widths.heads * plan.context if plan.gpu_layers == 0 else 0
    return {
        **terms,
        Term.COMPUTE: step * (widths.beside + scores) * FLOAT_BYTES,
        Term.OUTPUT: plan.slots * widths.vocabulary * FLOAT_BYTES,
    }


def _element_bytes(plan: Plan, widths: Widths | None) -> tuple[float, float]:
    """Bytes of one element of keys, and of values."""
    if plan.key_type == SMALL_KEYS:
        return _KEYS_BYTES, 1 + _SCALE_BYTES / (widths.head if widths and widths.head else _USUAL_HEAD)
    return ELEMENT_BYTES.get(plan.key_type, FLOAT_BYTES), ELEMENT_BYTES.get(plan.value_type, FLOAT_BYTES)


def _widths(blueprint: Blueprint) -> Widths | None:
    """By the config, or by a GGUF header, which tells no less than that."""
    known = blueprint.activations
    if blueprint.widths is not None or known is None:
        return blueprint.widths
    heads = max((layer.heads for layer in blueprint.shape.kinds), default=0)
    return Widths(known.embedding, known.vocabulary, 4 * known.embedding, heads, known.embedding // max(heads, 1))
