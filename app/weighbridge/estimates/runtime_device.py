"""On which device a runtime computes that puts all of a model on one: onnxruntime-genai and openvino-genai. Pure.

OpenVINO chooses by itself where nobody says: see `weighbridge_engines.openvino_device`, whose rule is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from weighbridge.estimates.estimate import Place, PlaceKind
from weighbridge.estimates.plan import Plan
from weighbridge_engines.prompt_steps import CARD_BATCH

ONNX_GENAI, OPENVINO = "onnx_genai", "openvino"
RUNTIMES = frozenset({ONNX_GENAI, OPENVINO})
_NUMBERS = "0123456789."

CACHE: Mapping[str, str] = {ONNX_GENAI: "f32", OPENVINO: "q8_0"}
"""The type of a cache on a processor, unless it is told. Folders for ONNX Runtime on processors keep 32 bits."""

CARD_KEYS = "f16"
"""The type of a cache on a card, unless it is told: an upper bound, for what a card takes by itself is not known."""


def settled(plan: Plan, places: Sequence[Place], need_bytes: Callable[[Plan], int]) -> Plan:
    """`plan` with its device decided: `gpu_layers` is 0 where the processor computes, else None, and then `split` names
    the card. `need_bytes` tells what a plan takes where it is computed.
    """
    if plan.gpu_layers == 0:
        return _on_processor(plan)
    able = [place for place in places if place.kind is not PlaceKind.HOST]
    if plan.device:
        named = next((place for place in able if place.sight == plan.device), _of_kind(able, plan.device))
        return _on_processor(plan) if named is None else _on(plan, named, places)
    for place in sorted(able, key=_preference):
        made = _on(plan, place, places)
        if place.total_bytes is None or need_bytes(made) <= place.total_bytes:
            return made
    return _on_processor(plan)


def place_of(plan: Plan, places: Sequence[Place]) -> Place:
    """Where all of a settled plan lies."""
    cards = [place for place in places if place.kind is PlaceKind.DEDICATED]
    if plan.gpu_layers == 0 or not plan.split:
        return places[0]
    return next((card for card, share in zip(cards, plan.split, strict=False) if share), places[0])


def _preference(place: Place) -> tuple[bool, int]:
    """Cards with memory of their own first, of those the one with the most."""
    return place.kind is not PlaceKind.DEDICATED, -(place.total_bytes or 0)


def _of_kind(places: Sequence[Place], device: str) -> Place | None:
    """The first device of the kind that `device` names without a number ("GPU", "CUDA")."""
    if device[-1] in _NUMBERS:
        return None
    return next((place for place in places if place.sight.rstrip(_NUMBERS).lower() == device.lower()), None)


def _on_processor(plan: Plan) -> Plan:
    return replace(plan, gpu_layers=0, split=None, device="CPU", threads=None)


def _on(plan: Plan, place: Place, places: Sequence[Place]) -> Plan:
    cards = [one for one in places if one.kind is PlaceKind.DEDICATED]
    split = tuple(float(one is place) for one in cards) or None
    batch = plan.batch if plan.threads is None else CARD_BATCH
    made = replace(plan, gpu_layers=None, split=split, device=place.sight, batch=batch, micro_batch=batch, threads=None)
    untold = plan.key_type == CACHE[plan.engine]
    return replace(made, key_type=CARD_KEYS, value_type=CARD_KEYS) if untold else made
