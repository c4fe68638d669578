"""Where the bytes of a file belong: to the input, to a layer, to its experts, to the output."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerWeights:
    """One layer's weights in bytes: its experts', and all others."""

    dense_bytes: int = 0
    expert_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        """Both."""
        return self.dense_bytes + self.expert_bytes


@dataclass(frozen=True)
class Weights:
    """A file's weights in bytes, digested once so that an estimate need not walk a table of thousands of tensors.

    `input_bytes` are the tensors that always stay in host memory, `embedding_bytes` (a part of them) the token
    embedding, which is held twice where it is also the output matrix (`tied`). `output_bytes` are those that count as
    one layer more. `predicting` are layers that are loaded only to predict further tokens. `exact` is False where only
    the file's size is known and the parts are guessed from it.
    """

    layers: tuple[LayerWeights, ...]
    input_bytes: int = 0
    embedding_bytes: int = 0
    output_bytes: int = 0
    tied: bool = False
    predicting: tuple[LayerWeights, ...] = ()
    exact: bool = True

    @property
    def total_bytes(self) -> int:
        """What is loaded, each tensor once."""
        return self.input_bytes + self.output_bytes + sum(layer.total_bytes for layer in self.layers)
