"""How a model would be loaded: everything beside the file on which its memory depends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

ALIGNED_TO = 256
"""llama.cpp and the ExLlama libraries count a cache in steps of so many tokens."""

ELEMENT_BYTES: Mapping[str, float] = {
    "f32": 4.0,
    "f16": 2.0,
    "bf16": 2.0,
    "q8_0": 34 / 32,
    "q5_1": 24 / 32,
    "q5_0": 22 / 32,
    "q4_1": 20 / 32,
    "q4_0": 18 / 32,
    "iq4_nl": 18 / 32,
}
"""Bytes that one element of a KV cache takes in llama.cpp, by type: blocks of 32 with their scales."""

_EIGHT, _FOUR, _HALF = 1 + 1 / 32, 0.5 + 1 / 32, 2.0
_OF_OTHERS: Mapping[str, float] = {
    **dict.fromkeys(("auto", "none", "float16", "bfloat16"), _HALF),
    **dict.fromkeys(("fp8", "fp8_e4m3", "fp8_e5m2"), 1.0),
    **dict.fromkeys(("int8", "mxfp8", "int8_per_token_head", "fp8_per_token_head"), _EIGHT),
    **dict.fromkeys(("int4", "int4_per_token_head"), _FOUR),
    **dict.fromkeys(("nvfp4", "fp4_mx_block16"), 0.5 + 1 / 16),
}
"""The same by names of server programs: a scale for each tensor, for each head of 128 elements (or each 32 in eight
bits), and for each 16. What is not told is as it was computed.
"""

_BITS = re.compile(r"q([2-8])(?:_0)?")
_SCALE_BITS = 0.5


def element_bytes(kind: str) -> float | None:
    """Bytes of one element of a KV cache of the type `kind`, by the name that any engine has for it; None for one whose
    size is not known. "q2" to "q8" are those of the ExLlama libraries: so many bits, and half a one for the scale.
    """
    known = ELEMENT_BYTES.get(kind, _OF_OTHERS.get(kind))
    bits = _BITS.fullmatch(kind)
    return (int(bits[1]) + _SCALE_BITS) / 8 if known is None and bits else known


@dataclass(frozen=True)
class Plan:
    """One way to load a model, as `engine` (the id of an engine) would do it. Pure values, all of them decided.

    `context` is the sum over all `slots`, in tokens: where the cache is not `unified`, each slot gets its share.
    `batch` and `micro_batch` are the tokens of a prompt handed over and computed at a time. `gpu_layers` counts as
    llama.cpp counts: the output is one of them; None is all. `cpu_experts` is the number of first layers whose experts
    stay in host memory. `split` gives each GPU's share of the layers; None: by what is free. `whole_window` keeps all
    tokens where a layer would need only its window. `outputs` is of how many tokens of a batch logits can be had;
    None: one a slot. `predict` also loads the layers that predict further tokens. `device` is where an engine that
    computes on one device does so, by its own name for it; "": see `runtime_device.settled`. `threads` are those of
    the processor by which such an engine chooses how much of a prompt it takes at a time; None where that is told.
    `floats` is the type in which a server program holds what is a float ("float32"); None: as in the files.
    `reserved_bytes` is what it takes for its cache whatever the context; None: what the context needs.
    """

    engine: str = "llama_server"
    context: int = 4096
    slots: int = 1
    unified: bool = True
    key_type: str = "f16"
    value_type: str = "f16"
    batch: int = 512
    micro_batch: int = 512
    flash_attention: bool = True
    whole_window: bool = False
    gpu_layers: int | None = None
    cpu_experts: int = 0
    split: tuple[float, ...] | None = None
    mapped: bool = True
    outputs: int | None = None
    predict: bool = False
    device: str = ""
    threads: int | None = None
    floats: str | None = None
    reserved_bytes: int | None = None

    @property
    def cells(self) -> int:
        """Tokens that the whole cache holds: the context, up to the next step of 256."""
        return aligned(self.context)

    @property
    def streams(self) -> int:
        """How many separate caches there are."""
        return 1 if self.unified else self.slots

    @property
    def slot_cells(self) -> int:
        """Tokens that one cache holds, which is what one request can use."""
        return self.cells if self.unified else aligned(self.cells // self.slots)

    @property
    def batch_tokens(self) -> int:
        """Tokens that are really computed at a time: never more than the batch or the context."""
        return min(self.micro_batch, self.batch, self.cells)


def aligned(tokens: int) -> int:
    """`tokens` up to the next whole step of a cache."""
    return -(-tokens // ALIGNED_TO) * ALIGNED_TO
