"""All that a model's memory depends on, digested once for each file: an estimate costs microseconds after that."""

from __future__ import annotations

from dataclasses import dataclass, field

from weighbridge.estimates.activations import Activations, activations
from weighbridge.estimates.config_widths import Widths, widths_of
from weighbridge.estimates.shape import Certainty, Layer, Shape
from weighbridge.estimates.shape_config import shape_of_config
from weighbridge.estimates.shape_gguf import shape_of_gguf
from weighbridge.estimates.use import Use, use_of
from weighbridge.estimates.weights import Weights, weights_of
from weighbridge.estimates.weights_config import Floats, floats_of, weights_of_safetensors
from weighbridge.formats.model import ModelInfo

WIDEST_KEYS, LARGEST_STATE, MOST_EXPERTS = 1 << 18, 1 << 24, 1 << 16
"""A header that claims more for a layer is false: the largest models have 32,768 elements for each token of a cache,
four million in a state, and some hundred experts.
"""


@dataclass(frozen=True)
class Blueprint:
    """One model's digest.

    `activations` is None where the header does not tell how wide the model is, or the format is not llama.cpp's; then
    `widths` stands for it. `use` is what one token touches, `floats` what of the weights are floats.
    """

    format: str
    architecture: str | None
    shape: Shape
    weights: Weights
    activations: Activations | None = None
    context_length: int | None = None
    widths: Widths | None = None
    use: Use = field(default_factory=Use)
    floats: Floats = field(default_factory=Floats)

    @property
    def can_be_split(self) -> bool:
        """Whether its engine can keep some layers in host memory and others on cards."""
        return self.format == "gguf"


def blueprint(info: ModelInfo, size_bytes: int) -> Blueprint:
    """The digest of the model that `info` tells of, whose files have `size_bytes`. A few ms for a full header."""
    if info.format != "gguf":
        weights, widths = weights_of_safetensors(info, size_bytes), widths_of(info)
        return Blueprint(
            format=info.format,
            architecture=info.architecture,
            shape=_believed(shape_of_config(info), info),
            weights=weights,
            context_length=info.context_length,
            widths=widths,
            use=use_of(info, weights, widths.vocabulary * widths.hidden if widths else 0),
            floats=floats_of(info, size_bytes),
        )
    weights, known = weights_of(info, size_bytes), activations(info)
    return Blueprint(
        format=info.format,
        architecture=info.architecture,
        shape=_believed(shape_of_gguf(info), info),
        weights=weights,
        activations=known,
        context_length=info.context_length,
        use=use_of(info, weights, known.vocabulary * known.embedding if known else 0),
    )


def _believed(shape: Shape, info: ModelInfo) -> Shape:
    """`shape`, unless the header claims what no model has: its cache is then unknown, and not too large."""
    widest = max(map(_cache_width, shape.kinds), default=0)
    largest = max((layer.conv + layer.state for layer in shape.kinds), default=0)
    claims_too_much = widest > WIDEST_KEYS or largest > LARGEST_STATE or (info.experts or 0) > MOST_EXPERTS
    return Shape((), Certainty.UNKNOWN) if claims_too_much else shape


def _cache_width(layer: Layer) -> int:
    index = layer.index
    return layer.key_width + layer.value_width + (index.key_width + index.value_width if index else 0)
