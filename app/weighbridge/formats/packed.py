"""How many weights the tensors of a safetensors model stand for, however they are packed.

A packed tensor's shape counts words, not weights, so each way of packing has its rule. Sources: the converters of
exllamav2, exllamav3, mlx-lm, AutoAWQ, GPTQModel, compressed-tensors, Model Optimizer, bitsandbytes and gpt-oss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from weighbridge.formats.gguf_tensors import Tensor

WORD_BITS = 32
TRELLIS_TILE = 16 * 16
"""EXL3 packs tiles of 16 by 16 weights; the last number of a trellis' shape is 16 times the bits of each."""

_EXPERTS = re.compile(r"\.(?:experts|switch_mlp|switch_glu)\.")
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")
_EMBEDDING = re.compile(r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|tok_embeddings|embed_in|embeddings)\.")
_OUTPUT = re.compile(r"(?:^|\.)(?:lm_head|embed_out|output_layer)\.|^output\.")
_BESIDE_TEXT = re.compile(r"(?:^|\.)(?:visual|vision\w*|audio\w*|mtp|multi_modal_projector|mm_projector|mlp1)\.")
_HELPERS = re.compile(
    r"\.(?:scales|biases|qzeros|g_idx|SCB|suh|svh|su|sv|mcg|mul1|q_invperm|q_scale|q_scale_max|q_groups|q_perm"
    r"|q_group_map|weight_scale\w*|weight_shape|weight_zero_point|weight_global_scale|weight_g_idx|input_scale"
    r"|input_global_scale|k_scale|v_scale|absmax|quant_map|nested_absmax|nested_quant_map|quant_state\.\w+)$"
    r"|_scales$"
)
"""What stands beside packed weights and holds none: scales, zeros, orders."""


@dataclass(frozen=True)
class Packing:
    """What a config says of packed words: the `bits` of a weight, and those of modules that differ."""

    bits: int | None = None
    by_module: Mapping[str, int] | None = None

    def of(self, module: str) -> int | None:
        """The bits of one weight in `module`."""
        return (self.by_module or {}).get(module, self.bits)


@dataclass(frozen=True)
class Held:
    """Weights of a model: all, and those that one token touches; None where that cannot be told."""

    parameters: int | None
    active: int | None


def held(
    tensors: Sequence[Tensor],
    packing: Packing,
    layers: int | None,
    experts: tuple[int, int] | None,
    *,
    generates: bool = True,
) -> Held:
    """Count the weights. `layers` are those of the text model, `experts` how many there are and how many are used.

    An embedding is looked up, not multiplied, unless it is the output, too: so it is in a model that `generates` and
    has no other. What sees, hears, or predicts more than one token counts among all weights and is not active.
    """
    counted = _Counting(tensors, packing).counts()
    if any(count is None for count in counted.values()):
        return Held(None, None)
    total = sum(count or 0 for count in counted.values())
    mixed = any(_EXPERTS.search(name) for name in counted)
    if not counted or (mixed and experts is None):
        return Held(total or None, None)
    tied = generates and not any(_OUTPUT.search(name) for name in counted)
    active = 0
    for name, count in counted.items():
        if _is_active(name, layers, tied):
            active += _share(name, count or 0, experts)
    return Held(total, active)


def _is_active(name: str, layers: int | None, tied: bool) -> bool:
    layer = _LAYER.search(name)
    if _BESIDE_TEXT.search(name) or (layer and layers is not None and int(layer[1]) >= layers):
        return False
    return tied or _EMBEDDING.search(name) is None


def _share(name: str, count: int, experts: tuple[int, int] | None) -> int:
    if experts is None or not _EXPERTS.search(name):
        return count
    return count * min(experts[1], experts[0]) // experts[0]


class _Counting:
    """The tensors of one model by name, for the rules that look at a tensor's neighbours."""

    def __init__(self, tensors: Sequence[Tensor], packing: Packing) -> None:
        self._tensors = {tensor.name: tensor for tensor in tensors}
        self._packing = packing

    def counts(self) -> dict[str, int | None]:
        """Weights by tensor. None where the rule needs what the config does not tell."""
        return {name: self._count(tensor) for name, tensor in self._tensors.items() if not _HELPERS.search(f".{name}")}

    def _count(self, tensor: Tensor) -> int | None:
        module, _, ending = tensor.name.rpartition(".")
        rule = _RULES.get(ending)
        if rule is not None:
            return rule(self, tensor, module)
        if tensor.name.endswith("_blocks") and tensor.type_name == "U8":
            return 2 * tensor.elements
        return tensor.elements

    def _beside(self, module: str, ending: str) -> Tensor | None:
        return self._tensors.get(f"{module}.{ending}")

    def _weight(self, tensor: Tensor, module: str) -> int | None:
        """A plain weight, one of MLX (words beside scales), or two 4-bit numbers in each byte."""
        if tensor.type_name == "U32" and self._beside(module, "scales"):
            return self._words(tensor, module)
        halves = any(self._beside(module, each) for each in ("weight_scale", "weight.absmax", "weight_scale_2"))
        return 2 * tensor.elements if tensor.type_name == "U8" and halves else tensor.elements

    def _words(self, tensor: Tensor, module: str) -> int | None:
        bits = self._packing.of(module)
        return tensor.elements * WORD_BITS // bits if bits else None

    def _packed(self, tensor: Tensor, module: str) -> int | None:
        return 2 * tensor.elements if tensor.type_name == "U8" else self._words(tensor, module)

    def _trellis(self, tensor: Tensor, module: str) -> int | None:
        del module
        return prod(tensor.shape[:-1]) * TRELLIS_TILE

    def _exl2(self, tensor: Tensor, module: str) -> int | None:
        order = self._beside(module, "q_invperm")
        return order.elements * tensor.shape[-1] if order and tensor.shape else None


_RULES: Mapping[str, Callable[[_Counting, Tensor, str], int | None]] = {
    "q_weight": _Counting._exl2,
    "qweight": _Counting._words,
    "trellis": _Counting._trellis,
    "weight": _Counting._weight,
    "weight_packed": _Counting._packed,
}
