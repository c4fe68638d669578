"""How many parameters a GGUF file's tensors hold, how many of them a token touches, and in how many bits they lie."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.formats.gguf_tensors import Tensor

_EXPERTS = re.compile(r"ffn_(up|down|gate_up|gate)_(ch)?exps\b")
_BLOCK = re.compile(r"blk\.(\d+)\.")
_LOOKED_UP = frozenset({"position_embd.weight", "token_types.weight", "per_layer_token_embd.weight"})
"""Tables of which a token reads one row."""

_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"


def is_expert(name: str) -> bool:
    """Whether the tensor `name` holds the weights of a layer's experts, shared ones left out."""
    return _EXPERTS.search(name) is not None


def active_parameters(
    tensors: Sequence[Tensor], experts: int | None, experts_used: int | None, layers: int | None
) -> int | None:
    """Elements that a token touches: all but the embedding (unless it is the output), and of the experts those used.

    `layers` are those that are loaded: what follows them only predicts further tokens. None where the file has experts
    and does not say how many of them are used.
    """
    mixed = [tensor for tensor in tensors if is_expert(tensor.name)]
    if mixed and not (experts and experts_used):
        return None
    looked_up = _LOOKED_UP | ({_EMBEDDING} if any(tensor.name == _OUTPUT for tensor in tensors) else set())
    loaded = [tensor for tensor in tensors if tensor.name not in looked_up and _is_loaded(tensor.name, layers)]
    dense = sum(tensor.elements for tensor in loaded if not is_expert(tensor.name))
    sparse = sum(tensor.elements for tensor in loaded if is_expert(tensor.name))
    return dense + (sparse * min(experts_used, experts) // experts if experts and experts_used else 0)


def bits_per_weight(tensors: Sequence[Tensor]) -> float | None:
    """Bits for each element over all tensors; None where one has an unknown type, or there is none."""
    elements = sum(tensor.elements for tensor in tensors)
    if not elements or any(tensor.size_bytes is None for tensor in tensors):
        return None
    return sum(tensor.size_bytes or 0 for tensor in tensors) * 8 / elements


def _is_loaded(name: str, layers: int | None) -> bool:
    block = _BLOCK.match(name)
    return block is None or layers is None or int(block[1]) < layers
