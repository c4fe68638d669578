"""Where the bytes of a folder of safetensors belong: to the embedding, to a layer, to its experts, to the output.

By the names of tensors, whatever their types: packed words are counted as they lie in the files, never by what they
stand for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from weighbridge.estimates.weights import LayerWeights, Weights
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.model import MAX_LAYERS, ModelInfo
from weighbridge.formats.quantisation import whole

_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|block)\.(\d{1,4})\.")
_EMBEDDING = re.compile(r"(?:^|\.)(?:embed_tokens|tok_embeddings|wte|word_embeddings|embed_in|embeddings)\.")
_EXPERTS = re.compile(r"\.(?:experts|switch_mlp)\.")
_OTHER_PARTS = re.compile(r"(?:^|\.)(?:vision|visual|audio|mtp|image)[a-z_]*\.")
_TABLE_BYTES = 2
"""Tables of an embedding are in 16 bits where they are not told."""


WIDE = "float32"
"""The name of the floats of 32 bits, as server programs are told it."""

_HALF = ("BF16", "F16")


@dataclass(frozen=True)
class Floats:
    """How many bytes of the files are floats of 16 bits, and of 32. Programs can be told to hold them otherwise."""

    half_bytes: int = 0
    whole_bytes: int = 0


def floats_of(info: ModelInfo, size_bytes: int) -> Floats:
    """Those of the files of `size_bytes` that `info` tells of; by its type where no table is known. None of packed
    weights.
    """
    if info.format != "safetensors":
        return Floats()
    told = [(tensor.type_name, tensor.size_bytes or 0) for tensor in info.tensors or ()] or [(info.quant, size_bytes)]
    return Floats(
        sum(amount for name, amount in told if name in _HALF), sum(amount for name, amount in told if name == "F32")
    )


def weights_of_safetensors(info: ModelInfo, size_bytes: int) -> Weights:
    """The weights of the files of `size_bytes` that `info` tells of; shared out equally where no table is known.

    What belongs to no layer, beside the embedding, counts as the output: norms, its matrix, and all that sees or hears.
    """
    layers = info.layers or 0
    tensors = [tensor for tensor in info.tensors or () if tensor.size_bytes is not None]
    if not tensors or not layers or 2 * _total(tensors) < size_bytes:
        return _shared_out(info, size_bytes)
    return _by_name(tensors, min(layers, MAX_LAYERS), size_bytes)


def _total(tensors: list[Tensor]) -> int:
    return sum(tensor.size_bytes or 0 for tensor in tensors)


def _by_name(tensors: list[Tensor], layers: int, size_bytes: int) -> Weights:
    dense: dict[int, int] = defaultdict(int)
    experts: dict[int, int] = defaultdict(int)
    embedding = output = 0
    for tensor in tensors:
        amount = tensor.size_bytes or 0
        number = _layer_of(tensor.name, layers)
        if number is not None:
            (experts if _EXPERTS.search(tensor.name) else dense)[number] += amount
        elif _EMBEDDING.search(tensor.name) and not _OTHER_PARTS.search(tensor.name):
            embedding += amount
        else:
            output += amount
    parts = tuple(LayerWeights(dense[number], experts[number]) for number in range(layers))
    rest = max(size_bytes - embedding - output - sum(part.total_bytes for part in parts), 0)
    return Weights(parts, input_bytes=embedding, embedding_bytes=embedding, output_bytes=output + rest)


def _layer_of(name: str, layers: int) -> int | None:
    """The number of the layer that a tensor belongs to; None for one beside the layers, or of further parts."""
    found = None if _OTHER_PARTS.search(name) else _LAYER.search(name)
    number = int(found[1]) if found else layers
    return number if number < layers else None


def _shared_out(info: ModelInfo, size_bytes: int) -> Weights:
    tokens = whole(info.config.get("vocab_size")) or 0
    table = min(tokens * (info.embedding_length or 0) * _TABLE_BYTES, size_bytes // 3)
    count = max(info.layers or 1, 1)
    rest = size_bytes - table
    share = _expert_share(info)
    experts = int(min(size_bytes * (share or 0.0), rest) / count)
    part = LayerWeights(rest // count - experts, experts)
    left = rest - part.total_bytes * count
    return Weights((part,) * count, table, table, output_bytes=left, exact=False, counted=share is not None)


def _expert_share(info: ModelInfo) -> float | None:
    """The part of all parameters that is the experts', by what a token leaves out; None where there are none, or where
    that is not known.
    """
    if not info.parameters or not info.active_parameters or not info.experts or not info.experts_used:
        return None
    tied = info.config.get("tie_word_embeddings") is True
    table = 0 if tied else (whole(info.config.get("vocab_size")) or 0) * (info.embedding_length or 0)
    left_out = info.parameters - info.active_parameters - table
    used = min(info.experts_used / info.experts, 1.0)
    experts = left_out / (1 - used) if left_out > 0 and used < 1 else 0.0
    return experts / info.parameters if 0 < experts < info.parameters else None
