"""How wide the parts of a model's graph are: what one token of a batch needs while it is computed.

Digested once for each file. What the tensors show goes before what the keys say, so that an architecture that is not
known yet is counted by what it has: a feed-forward part with or without a gate, experts, compressed attention.
Source of the sums: ggml's graph allocator over the graphs that llama.cpp builds, and its own tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.estimates.compute_recurrent import graph_of
from weighbridge.estimates.graph_layers import Graph
from weighbridge.estimates.shape_gguf import shape_of_gguf
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import MAX_LAYERS, ModelInfo

Shapes = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Activations:
    """What a model's graph holds for one token, in floats of 32 bits.

    `layers` is the peak within each layer, beside the graph's inputs; `vocabulary` the width of the logits, `heads` the
    most query heads in a layer (each has its row of scores where there is no flash attention). `graph` is there for a
    model that keeps a state: its layers cannot be looked at one by one.
    """

    embedding: int
    vocabulary: int
    heads: int
    layers: tuple[int, ...]
    graph: Graph | None = None


def activations(info: ModelInfo) -> Activations | None:
    """The widths of this model's graph; None where its header does not even tell how wide the model is."""
    width, count = info.embedding_length, info.layers
    if not width or not count:
        return None
    keys = Keys(info.metadata)
    shapes = _shapes(info)
    kept = count - min(keys.count("nextn_predict_layers", MAX_LAYERS) or 0, count)
    return Activations(
        embedding=width,
        vocabulary=_vocabulary(keys, shapes.get(None, {}), width),
        heads=max(info.heads or (0,)),
        layers=tuple(_Layer(info, keys, shapes.get(number, {}), number).peak() for number in range(kept)),
        graph=graph_of(info, shape_of_gguf(info)),
    )


def _shapes(info: ModelInfo) -> dict[int | None, dict[str, tuple[int, ...]]]:
    """The tensors' shapes by layer; those of no layer under None."""
    found: dict[int | None, dict[str, tuple[int, ...]]] = {}
    for tensor in info.tensors or ():
        parts = tensor.name.split(".", 2)
        in_layer = len(parts) == 3 and parts[0] == "blk" and parts[1].isdecimal()
        name = parts[2] if in_layer else tensor.name
        found.setdefault(int(parts[1]) if in_layer else None, {})[name] = tensor.shape
    return found


def _vocabulary(keys: Keys, shapes: Shapes, width: int) -> int:
    for name in ("output.weight", "token_embd.weight"):
        shape = shapes.get(name, ())
        if len(shape) == 2:
            return shape[1]
    return keys.count("vocab_size") or 0


class _Layer:
    """One layer's parts, each with the most that it holds at a time."""

    def __init__(self, info: ModelInfo, keys: Keys, shapes: Shapes, number: int) -> None:
        self._info, self._keys, self._shapes, self._number = info, keys, shapes, number
        self._width = info.embedding_length or 0

    def peak(self) -> int:
        """The widest part's floats for one token."""
        return 5 * self._width + max(self._attention(), self._feed_forward(), self._experts())

    def _out(self, name: str) -> int:
        """The width of what a matrix gives; 0 where there is no such matrix."""
        shape = self._shapes.get(f"{name}.weight", ())
        return shape[1] if len(shape) >= 2 else 0

    def _attention(self) -> int:
        heads = (self._info.heads or (0,) * (self._number + 1))[self._number]
        latent = self._keys.count("attention.key_length_mla") or 0
        key, value = self._info.key_length or 0, self._info.value_length or 0
        return heads * (latent + key + value) if latent else 2 * heads * key

    def _feed_forward(self) -> int:
        if not self._shapes:
            inner = self._keys.per_layer("feed_forward_length", self._number + 1)
            return 0 if self._info.experts else 3 * max(inner or (0,))
        if gate := self._out("ffn_gate"):
            return 3 * gate
        joined, down = self._out("ffn_up"), self._shapes.get("ffn_down.weight", (0,))[0]
        return joined + down if joined > down else joined

    def _experts(self) -> int:
        used = self._info.experts_used or 0
        if not self._info.experts or not used:
            return 0
        inner = self._out("ffn_down_exps") and self._shapes["ffn_down_exps.weight"][0]
        inner = inner or self._keys.count("expert_feed_forward_length") or self._keys.count("feed_forward_length") or 0
        if self._shapes and "ffn_down_exps.weight" not in self._shapes:
            return 0
        return used * (3 * inner + (self._width if 2 * inner < self._width else 0))
