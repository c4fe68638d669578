"""All that a model's memory depends on, digested once for each file: an estimate costs microseconds after that."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.estimates.activations import Activations, activations
from weighbridge.estimates.shape import Shape
from weighbridge.estimates.shape_gguf import shape_of_gguf
from weighbridge.estimates.weights import Weights, weights_of
from weighbridge.formats.model import ModelInfo


@dataclass(frozen=True)
class Blueprint:
    """One model's digest.

    `activations` is None where the header does not tell how wide the model is, or the format is not llama.cpp's.
    """

    format: str
    architecture: str | None
    shape: Shape
    weights: Weights
    activations: Activations | None = None
    context_length: int | None = None

    @property
    def can_be_split(self) -> bool:
        """Whether its engine can keep some layers in host memory and others on cards."""
        return self.format == "gguf"


def blueprint(info: ModelInfo, size_bytes: int) -> Blueprint:
    """The digest of the model that `info` tells of, whose files have `size_bytes`. A few ms for a full header."""
    return Blueprint(
        format=info.format,
        architecture=info.architecture,
        shape=shape_of_gguf(info),
        weights=weights_of(info, size_bytes),
        activations=activations(info),
        context_length=info.context_length,
    )
