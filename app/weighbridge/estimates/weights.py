"""Where the bytes of a file belong: to the input, to a layer, to its experts, to the output.

Source: llama.cpp's table of tensors (`LLM_TENSOR_INFOS`), which says for each kind whether the input, a layer or the
output uses it, and its loader, which holds the token embedding twice where it is the output matrix too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from weighbridge.formats.architectures import ENCODERS
from weighbridge.formats.counts import is_expert
from weighbridge.formats.ggml_types import TYPES
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.keys import Keys
from weighbridge.formats.model import MAX_LAYERS, ModelInfo

Matrices = tuple[tuple[str, int], ...]
"""Bytes of matrices by the name of their type, of those that an engine may copy into another order for the CPU."""

REORDERED_ROWS = 8
"""Reordered matrices have a number of rows that this divides."""

MATRIX_DIMENSIONS, EXPERT_DIMENSIONS = 2, 3
"""Only matrices are reordered, and those of experts, which are stacked; other stacks are not."""

LAZY_BYTES = 4 << 30
"""A per-layer embedding of more bytes is read row by row from the file, and never held as a whole."""

_EMBEDDING = "token_embd.weight"
_OUTPUT = "output.weight"
_PER_LAYER_EMBEDDING = "per_layer_token_embd.weight"
_INPUT = frozenset({_EMBEDDING, _PER_LAYER_EMBEDDING, "position_embd.weight", "token_types.weight"})
_UNUSED = ("masked_embd_",)
_INPUT_NORM = "token_embd_norm."
_OF_FIRST_LAYER = (_INPUT_NORM, "per_layer_model_proj.", "per_layer_proj_norm.", "rope_f", "hrm.")
"""Tensors without a number that count as the first layer's: rope_f stands for rope_freqs and rope_factors."""

_NORM_AT_THE_END = frozenset({"lfm2", "lfm2moe"})
"""Their norm of the output bears the name of a norm of the input."""

_WITHOUT_OUTPUT = ENCODERS - {"t5encoder"} | {"wavtokenizer-dec"}
"""Architectures that give out no words: without an output matrix, the embedding is not used as one."""

_NEVER_LOADED = frozenset({"bailingmoe2", "dots3note", "exaone-moe", "exaone4", "glm4"})
"""Architectures whose further-predicting layers llama.cpp passes over, whatever it is asked for."""

_BLOCK = re.compile(r"(?:enc\.|dec\.)?blk\.(\d+)\.")
_GUESSED_VOCABULARY = 128_000
LEAST_ATTENTION = 0.5
"""Of what attention usually takes: a count of parameters that leaves less for it is not that of such a model."""


@dataclass(frozen=True)
class LayerWeights:
    """One layer's weights in bytes: its experts', and all others. The matrices are a part of them, by type."""

    dense_bytes: int = 0
    expert_bytes: int = 0
    dense_matrices: Matrices = ()
    expert_matrices: Matrices = ()

    @property
    def total_bytes(self) -> int:
        """Both."""
        return self.dense_bytes + self.expert_bytes


@dataclass(frozen=True)
class Weights:
    """A file's weights in bytes, digested once so that an estimate need not walk a table of thousands of tensors.

    `input_bytes` are the tensors that always stay in host memory, `embedding_bytes` (a part of them) the token
    embedding, which is held twice where it is also the output matrix (`tied`), and `lazy_bytes` (another part) what is
    only ever read row by row from the file. `output_bytes` are those that count as one layer more. `predicting` are
    layers that are loaded only to predict further tokens; they count as layers even where they are not. `exact` is
    False where only the file's size is known and the parts are guessed from it; then `counted` says that the experts'
    share is that of their parameters among all. `embedding_type` is the embedding's type where an engine may reorder
    it, `output_matrices` are those of the output likewise.
    """

    layers: tuple[LayerWeights, ...]
    input_bytes: int = 0
    embedding_bytes: int = 0
    output_bytes: int = 0
    tied: bool = False
    predicting: tuple[LayerWeights, ...] = ()
    exact: bool = True
    lazy_bytes: int = 0
    embedding_type: str | None = None
    output_matrices: Matrices = ()
    counted: bool = False

    @property
    def total_bytes(self) -> int:
        """What is loaded, each tensor once."""
        count = len(self.layers)
        return self.input_bytes + self.output_bytes + self.dense_sums[count] + self.expert_sums[count]

    @cached_property
    def dense_sums(self) -> tuple[int, ...]:
        """Bytes of the first layers without their experts, for none of them, for one, and so on up to all of them."""
        return tuple(accumulate((layer.dense_bytes for layer in self.layers + self.predicting), initial=0))

    @cached_property
    def expert_sums(self) -> tuple[int, ...]:
        """The same of their experts."""
        return tuple(accumulate((layer.expert_bytes for layer in self.layers + self.predicting), initial=0))

    @cached_property
    def mixed_sums(self) -> tuple[int, ...]:
        """How many of the first layers have experts."""
        return tuple(accumulate((layer.expert_bytes > 0 for layer in self.layers + self.predicting), initial=0))


def weights_of(info: ModelInfo, size_bytes: int) -> Weights:
    """The weights of the file, or the set of files, of `size_bytes` that `info` tells of.

    Where the table of tensors is not known, or is that of one part of a set, they are guessed from the size.
    """
    tensors = info.tensors
    if not tensors or (info.split is not None and _known_bytes(tensors) < size_bytes // 2):
        return _guessed(info, size_bytes)
    return _digested(info, tensors, size_bytes)


@dataclass
class _Sums:
    """The weights of a layer, or of the output, while they are summed."""

    dense_bytes: int = 0
    expert_bytes: int = 0
    dense: dict[str, int] = field(default_factory=dict)
    experts: dict[str, int] = field(default_factory=dict)

    def add(self, tensor: Tensor, size_bytes: int) -> None:
        """Count one tensor."""
        expert = "exps" in tensor.name and is_expert(tensor.name)
        if expert:
            self.expert_bytes += size_bytes
        else:
            self.dense_bytes += size_bytes
        if _is_matrix(tensor, EXPERT_DIMENSIONS if expert else MATRIX_DIMENSIONS):
            sums = self.experts if expert else self.dense
            kind = tensor.type_name or ""
            sums[kind] = sums.get(kind, 0) + size_bytes

    def layer(self) -> LayerWeights:
        """What was counted."""
        return LayerWeights(self.dense_bytes, self.expert_bytes, tuple(self.dense.items()), tuple(self.experts.items()))


class _Sorted:
    """The tensors of a file, each counted where it belongs."""

    def __init__(self, info: ModelInfo) -> None:
        self._norm_at_the_end = info.architecture in _NORM_AT_THE_END
        self._count = info.layers
        self._layers: list[_Sums] = [_Sums() for _ in range(info.layers or 0)]
        self.inputs: dict[str, tuple[Tensor, int]] = {}
        self.output = _Sums()
        self.has_output = False

    def add(self, tensor: Tensor, size_bytes: int) -> None:
        """Count one tensor."""
        name = tensor.name
        block = _BLOCK.match(name)
        if block is not None:
            self._layer(int(block[1])).add(tensor, size_bytes)
        elif name in _INPUT:
            self.inputs[name] = tensor, size_bytes
        elif name.startswith(_OF_FIRST_LAYER) and not (self._norm_at_the_end and name.startswith(_INPUT_NORM)):
            self._layer(0).add(tensor, size_bytes)
        elif not name.startswith(_UNUSED):
            self.has_output = self.has_output or name == _OUTPUT
            self.output.add(tensor, size_bytes)

    def layers(self) -> tuple[LayerWeights, ...]:
        """All layers of the file, in their order."""
        return tuple(sums.layer() for sums in self._layers)

    def _layer(self, number: int) -> _Sums:
        """Blocks after the last layer go with the output; where the number of layers is not told, there are none."""
        if self._count is None and number < MAX_LAYERS:
            self._layers += [_Sums() for _ in range(number + 1 - len(self._layers))]
        return self._layers[number] if number < len(self._layers) else self.output


def _digested(info: ModelInfo, tensors: Sequence[Tensor], size_bytes: int) -> Weights:
    parts, exact = _Sorted(info), True
    for tensor, known in _sized(tensors, size_bytes):
        exact = exact and known is not None
        parts.add(tensor, known or 0)
    layers = parts.layers()
    loaded = len(layers) - _predicting(info, len(layers))
    embedding, embedding_bytes = parts.inputs.get(_EMBEDDING, (None, 0))
    _, per_layer_bytes = parts.inputs.get(_PER_LAYER_EMBEDDING, (None, 0))
    tied = embedding is not None and not parts.has_output and info.architecture not in _WITHOUT_OUTPUT
    output = parts.output.layer()
    return Weights(
        layers=layers[:loaded],
        input_bytes=sum(amount for _, amount in parts.inputs.values()),
        embedding_bytes=embedding_bytes,
        output_bytes=output.total_bytes,
        tied=tied,
        predicting=_predictors(info, layers[loaded:]),
        exact=exact,
        lazy_bytes=per_layer_bytes if per_layer_bytes > LAZY_BYTES else 0,
        embedding_type=embedding.type_name
        if embedding is not None and _is_matrix(embedding, MATRIX_DIMENSIONS)
        else None,
        output_matrices=output.dense_matrices,
    )


def _sized(tensors: Sequence[Tensor], size_bytes: int) -> Iterator[tuple[Tensor, int | None]]:
    """Each tensor with its bytes: where its type is not known, those up to the next one, or up to the file's end."""
    last = len(tensors) - 1
    for number, tensor in enumerate(tensors):
        if tensor.size_bytes is not None:
            yield tensor, tensor.size_bytes
        else:
            end = tensors[number + 1].offset if number < last else size_bytes
            yield tensor, end - tensor.offset if end >= tensor.offset else None


def _is_matrix(tensor: Tensor, dimensions: int) -> bool:
    """Whether it has a form that an engine may reorder for the CPU: a matrix, or one for each expert."""
    shape = tensor.shape
    return len(shape) == dimensions and shape[1] % REORDERED_ROWS == 0 and _is_quantised(tensor.type_id)


def _is_quantised(type_id: int) -> bool:
    kind = TYPES.get(type_id)
    return kind is not None and kind.block > 1


def _predicting(info: ModelInfo, layers: int) -> int:
    return min(Keys(info.metadata).count("nextn_predict_layers", MAX_LAYERS) or 0, layers)


def _predictors(info: ModelInfo, layers: tuple[LayerWeights, ...]) -> tuple[LayerWeights, ...]:
    return (LayerWeights(),) * len(layers) if info.architecture in _NEVER_LOADED else layers


def _known_bytes(tensors: Sequence[Tensor]) -> int:
    return sum(tensor.size_bytes or 0 for tensor in tensors)


def _guessed(info: ModelInfo, size_bytes: int) -> Weights:
    """The file's size, shared out: to the embedding by its width, the rest to the layers by their elements.

    The embedding is taken as the output too, so that what a GPU needs is not told too low.
    """
    embedding_bytes = min(_guessed_embedding(info), size_bytes // 3)
    counted = _counted_elements(info)
    elements = counted or _guessed_elements(info)
    total = sum(dense + experts for dense, experts in elements)
    scale = (size_bytes - embedding_bytes) / total
    layers = tuple(LayerWeights(round(dense * scale), round(experts * scale)) for dense, experts in elements)
    loaded = len(layers) - _predicting(info, len(layers))
    return Weights(
        layers[:loaded],
        embedding_bytes,
        embedding_bytes,
        tied=True,
        predicting=layers[loaded:],
        exact=False,
        counted=bool(counted),
    )


def _guessed_embedding(info: ModelInfo) -> int:
    return int(_embedding_elements(info) * _guessed_bits(info) / 8)


def _embedding_elements(info: ModelInfo) -> int:
    tokens = Keys(info.metadata).count("vocab_size") or info.vocabulary or _GUESSED_VOCABULARY
    return tokens * (info.embedding_length or 0)


def _guessed_bits(info: ModelInfo) -> float:
    """Bits of one weight, by the label of the quantisation."""
    label = info.quant or ""
    named = [kind for kind in TYPES.values() if label.startswith(kind.name)]
    return max(named, key=lambda kind: len(kind.name)).bits_per_weight if named else info.bits_per_weight or 16.0


def _guessed_elements(info: ModelInfo) -> list[tuple[int, int]]:
    """For each layer, how many elements its experts have and how many all else; 1 where widths are not known."""
    experts, attention = _experts_of_layers(info), _attention_elements(info)
    widest = max(Keys(info.metadata).per_layer("feed_forward_length", info.layers) or (0,))
    feed_forward = 3 * (info.embedding_length or 0) * widest
    return [(max(attention + (0 if each else feed_forward), 1), each) for each in experts]


def _counted_elements(info: ModelInfo) -> list[tuple[int, int]]:
    """The same by how many parameters there are in all: what is neither the embedding's nor the experts' is shared out
    to the layers. Nothing where there are no experts, or where the numbers do not agree.
    """
    experts, keys = _experts_of_layers(info), Keys(info.metadata)
    rest = (info.parameters or 0) - _embedding_elements(info) - sum(experts)
    latent, in_chunks = keys.count("attention.kv_lora_rank"), keys.count("expert_chunk_feed_forward_length")
    least = 0 if latent else LEAST_ATTENTION * _attention_elements(info) * len(experts)
    if not any(experts) or not info.experts_used or in_chunks or rest <= least:
        return []
    return [(rest // len(experts), each) for each in experts]


def _attention_elements(info: ModelInfo) -> int:
    """Of one layer, without what compresses keys."""
    heads, kv_heads = (info.heads or (0,))[0], (info.kv_heads or (0,))[0]
    return (info.embedding_length or 0) * ((info.key_length or 0) + (info.value_length or 0)) * (heads + kv_heads)


def _experts_of_layers(info: ModelInfo) -> list[int]:
    """For each layer, how many elements its experts have, of which each is made of three matrices."""
    keys, count = Keys(info.metadata), max(info.layers or 1, 1)
    widths = keys.per_layer("feed_forward_length", info.layers) or (0,)
    width = keys.count("expert_feed_forward_length") or max(widths)
    elements = 3 * (info.embedding_length or 0) * width * (info.experts or 0)
    lead, step = keys.count("leading_dense_block_count", MAX_LAYERS) or 0, keys.count("interleave_moe_layer_step") or 1
    return [elements if number >= lead and (number + 1) % step == 0 else 0 for number in range(count)]
