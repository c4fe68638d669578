"""Blueprints in round figures, for tests of verdicts."""

from __future__ import annotations

from weighbridge.estimates.activations import Activations
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import HOST, Place, PlaceKind
from weighbridge.estimates.shape import Certainty, Layer, Shape
from weighbridge.estimates.weights import LayerWeights, Weights

GIB = 1 << 30
MIB = 1 << 20


def made(
    layers: int = 10,
    layer_bytes: int = GIB,
    expert_bytes: int = 0,
    width: int = 1024,
    certainty: Certainty = Certainty.KNOWN,
    context_length: int | None = 131_072,
) -> Blueprint:
    """A model of `layers` equal layers, with a cache of 4 KiB a token and layer where `width` is 1024 (f16)."""
    return Blueprint(
        format="gguf",
        architecture="llama",
        shape=Shape((Layer(heads=8, key_width=width, value_width=width),) * layers, certainty),
        weights=Weights((LayerWeights(layer_bytes, expert_bytes),) * layers, input_bytes=GIB, output_bytes=GIB),
        activations=Activations(embedding=0, vocabulary=0, layers=()),
        context_length=context_length,
    )


def ram(free_gib: float | None, total_gib: float = 64) -> Place:
    return Place(HOST, "", PlaceKind.HOST, int(total_gib * GIB), None if free_gib is None else int(free_gib * GIB))


def card(free_gib: float, name: str = "card") -> Place:
    return Place(name, name, PlaceKind.DEDICATED, int(free_gib * GIB), int(free_gib * GIB), api="vulkan")
